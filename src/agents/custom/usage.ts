import type { AgentEvent } from '../../domain/event/event.ts'
import { Usage } from '../../domain/money/usage.ts'

interface Figures {
  readonly costUsd?: number | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
}

/** What a program that counts from its start has used between two of its figures. A figure that falls tells nothing. */
export function usageSince(before: Figures, now: Figures): AgentEvent | undefined {
  const beyond = (key: keyof Figures) => Math.max((now[key] ?? 0) - (before[key] ?? 0), 0)
  const usage = Usage.parse({ inputTokens: whole(beyond('inputTokens')), outputTokens: whole(beyond('outputTokens')) })
  const costUsd = beyond('costUsd')
  if (usage.inputTokens + usage.outputTokens + costUsd === 0) return undefined
  return { type: 'agent.usage', data: { usage, ...(now.costUsd === undefined ? {} : { costUsd }) } }
}

/** A count that nobody can have counted is none. */
const whole = (count: number) => (Number.isSafeInteger(Math.floor(count)) ? Math.floor(count) : 0)
