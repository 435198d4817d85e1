import { sql } from 'kysely'
import type { ModelFigures } from '../domain/view/model-metrics.ts'
import type { Db } from './database.ts'

interface Row {
  model: string
  provider: string
  calls: number
  refusals: Record<string, number> | null
  first_p50: number | null
  first_p99: number | null
  per_second: number | null
  cached: number | null
  output_tokens: number | null
}

/** By model and provider, those that were called most first. */
export async function sumModelCalls(
  db: Db,
  time: { since: Date; until: Date | undefined },
  limit: number,
): Promise<ModelFigures[]> {
  const { rows } = await sql<Row>`
    with calls as (
      select data ->> 'target' as model, data ->> 'provider' as provider, data -> 'refusal' ->> 'kind' as refusal,
        (data ->> 'firstMs')::float8 as first_ms, (data ->> 'durationMs')::float8 - (data ->> 'firstMs')::float8 as answer_ms,
        (data -> 'usage' ->> 'outputTokens')::float8 as output, (data -> 'usage' ->> 'cacheReadTokens')::float8 as cache_read,
        (data -> 'usage' ->> 'inputTokens')::float8 + (data -> 'usage' ->> 'cacheReadTokens')::float8 + (data -> 'usage' ->> 'cacheWriteTokens')::float8 as input
      from pawl.events where type = 'model.called' and at >= ${time.since} and ${time.until ? sql`at < ${time.until}` : sql`true`}
    ), kinds as (
      select model, provider, jsonb_object_agg(refusal, n) as refusals
      from (select model, provider, refusal, count(*) as n from calls where refusal is not null group by 1, 2, 3) as counted group by 1, 2
    )
    select c.model, c.provider, count(*)::int as calls, (select k.refusals from kinds k where k.model = c.model and k.provider = c.provider) as refusals,
      percentile_cont(0.5) within group (order by first_ms) as first_p50, percentile_cont(0.99) within group (order by first_ms) as first_p99,
      percentile_cont(0.5) within group (order by output * 1000 / answer_ms) filter (where answer_ms > 0 and output > 0) as per_second,
      sum(cache_read) / nullif(sum(input), 0) as cached, sum(output) as output_tokens
    from calls c group by 1, 2 order by 3 desc, 1, 2 limit ${limit}
  `.execute(db)
  return rows.map((row) => {
    const refusals = row.refusals ?? {}
    return {
      model: row.model,
      provider: row.provider,
      calls: row.calls,
      refused: Object.values(refusals).reduce((sum, count) => sum + count, 0),
      refusals,
      firstMs: { p50: row.first_p50, p99: row.first_p99 },
      tokensPerSecond: row.per_second,
      cacheHits: row.cached,
      outputTokens: row.output_tokens ?? 0,
    }
  })
}
