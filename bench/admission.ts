import { Agent } from 'node:http'
import { PgBoss } from 'pg-boss'
import { startDaemon } from './daemon.ts'
import { type Benchmark, inParallel, median, ms, quantile, timed } from './figure.ts'
import { inPlace } from './place.ts'

const depth = 10_000
const samples = 100
/** Holds its lane if told so, else ends at once. */
const script = 'read -r said; [ "$said" = hold ] && exec sleep 100000; echo done'

export const benchmark: Benchmark = {
  about: `from accepted, and from a free slot, to started with ${depth} tasks waiting, against one fetch of pg-boss at the same depth`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const agents = {
        deep: { command: ['/bin/sh', '-c', script], timeout: 0, idleTimeout: 0 },
        quick: { command: ['/bin/echo', 'done'] },
      }
      const daemon = await startDaemon(place, { settings: { agents, limits: { running: 8, perAgent: { deep: 1 } } }, profileDir })
      const holder = await daemon.createTask({ agent: 'deep', prompt: 'hold', priority: 100 })
      const via = new Agent({ keepAlive: true, maxSockets: 16 })
      const filling = await timed(() => inParallel(depth, 16, () => daemon.createTask({ agent: 'deep' }, via)))
      via.destroy()
      say(`${depth} tasks queued in ${Math.round(filling / 1000)} s`)

      const pool = await daemon.pool(2)
      const boss = new PgBoss({
        db: { executeSql: (text, values) => pool.query(text, values as unknown[]) },
        schema: 'bench_boss',
        schedule: false,
        supervise: false,
      })
      boss.on('error', (error) => say(String(error)))
      await boss.start()
      await boss.createQueue('deep')
      for (let i = 0; i < depth; i += 1_000)
        await boss.insert(
          'deep',
          Array.from({ length: 1_000 }, (_, n) => ({ data: { n } })),
        )

      const accepted: number[] = []
      const fetches: number[] = []
      for (let i = 0; i < samples; i++) {
        const task = await daemon.createTask({ agent: 'quick' })
        await daemon.follow(task.id, (event, atMs) => {
          if (event.type === 'run.started') accepted.push(atMs - Date.parse(task.createdAt))
        })
        fetches.push(await timed(() => boss.fetch('deep')))
      }

      await daemon.cancelTask(holder.id)
      await daemon.completed('deep', samples + 1)
      const freed = await gaps(pool)
      await boss.stop({ graceful: false, close: false })
      const peer = quantile(fetches, 0.99)
      const peerText = `${ms(median(fetches))} / ${ms(peer)}`
      const row = (name: string, values: readonly number[], promised: boolean) => ({
        name,
        ours: `${ms(median(values))} / ${ms(quantile(values, 0.99))}`,
        peer: peerText,
        ratio: quantile(values, 0.99) / peer,
        target: promised ? 'p99 ≤ 50 ms' : '',
        ...(promised ? { isMet: quantile(values, 0.99) <= 50 } : {}),
      })
      return [row('accepted to started, p50 / p99', accepted, true), row('slot free to started, p50 / p99', freed, true)]
    }),
}

/** In a lane of one: from the end of a run to the start of the next. */
async function gaps(pool: { query<T>(text: string): Promise<{ rows: T[] }> }): Promise<number[]> {
  const { rows } = await pool.query<{ gap: number }>(`
    select gap from (
      select type, extract(epoch from e.at - lag(e.at) over (order by e.at, e.id)) * 1000 as gap, lag(type) over (order by e.at, e.id) as before
      from pawl.events e join pawl.tasks t on t.id = e.task_id where t.agent = 'deep' and type in ('run.started', 'run.ended')
    ) as steps where type = 'run.started' and before = 'run.ended' limit ${samples}`)
  return rows.map((row) => Number(row.gap))
}
