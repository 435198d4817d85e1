import { z } from 'zod'
import type { ElaborateSettings } from '../domain/draft/proposal.ts'
import { Duration, formatDuration } from './duration.ts'

const text = z.string().min(1, { error: 'must not be empty' })
const money = 'must be a number of at least 0'

/** Who makes tasks of people's words. */
export const ElaborateEntry = z.strictObject({
  agent: text.describe('The agent that does it.'),
  model: text.optional().describe('The model it does it with; that of the agent if left out.'),
  timeout: Duration.optional().describe('How long it may take; 30s if left out.'),
  budget: z
    .strictObject({ usd: z.number({ error: money }).nonnegative({ error: money }) })
    .optional()
    .describe('What one may cost; a quarter of a dollar if left out.'),
})
export type ElaborateEntry = z.output<typeof ElaborateEntry>

export const elaborateOf = (entry: ElaborateEntry | null | undefined): ElaborateSettings | undefined =>
  entry
    ? {
        agent: entry.agent,
        ...(entry.model === undefined ? {} : { model: entry.model }),
        timeoutMs: entry.timeout ?? 30_000,
        budgetUsd: entry.budget?.usd ?? 0.25,
      }
    : undefined

/** What `config show` prints of it. */
export const shownElaborate = (settings: ElaborateSettings | undefined) =>
  settings && {
    agent: settings.agent,
    model: settings.model,
    timeout: formatDuration(settings.timeoutMs),
    budget: { usd: settings.budgetUsd },
  }
