import type { Adapter } from '../../agents/port.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { findModel } from '../../domain/agent/models.ts'
import type { Prices } from '../../domain/money/prices.ts'
import { leastTokens } from '../../gateway/money/bounded-output.ts'
import { guessTokens } from '../../gateway/money/token-guess.ts'
import { findKey } from '../auth/agent-access.ts'
import { dollars } from './caps.ts'

/**
 * Says that a task may spend less than its first request can cost, and what would do: it would end before it had begun. Undefined where the budget suffices, or where
 * nobody can tell: the model's price, the program's way to its model, or how much it asks for may be unknown.
 */
export async function smallBudget({
  agent,
  adapter,
  prompt,
  prices,
  environment,
}: {
  readonly agent: ResolvedAgent
  readonly adapter: Adapter
  readonly prompt: string
  readonly prices: Prices
  readonly environment: (names: readonly string[]) => Record<string, string>
}): Promise<string | undefined> {
  const { usd = Number.POSITIVE_INFINITY, perRunUsd = Number.POSITIVE_INFINITY } = agent.budget
  const most = Math.min(usd, perRunUsd)
  // Nothing at all is for models that cost nothing.
  if (!Number.isFinite(most) || most === 0 || agent.gateway === false) return undefined
  const options = adapter.options.safeParse(agent.options)
  const use = options.success ? adapter.models?.(options.data) : undefined
  if (!use?.firstRequest) return undefined
  const { mostTokens, cheapestModel } = use.firstRequest
  const listed = agent.model === undefined ? undefined : findModel(agent.models, agent.model)
  // A program with a login of its own goes past the gateway, and nothing is reserved for it.
  const isServed = listed !== undefined || (await findKey({ agent, environment }, use.keys).catch(() => undefined)) !== undefined
  if (!isServed) return undefined
  const names = listed ? [listed.target ?? listed.name, listed.name] : [agent.model ?? cheapestModel]
  const model = names.find((name) => prices.of(name) !== undefined)
  if (model === undefined) return undefined
  const inputTokens = mostTokens + Math.ceil(guessTokens(Buffer.from(prompt)) * 1.5)
  const needed = prices.worst(model, { inputTokens, outputTokens: leastTokens, isKeptForHour: false }).countedUsd
  if (most >= needed) return undefined
  const flag = perRunUsd < usd ? '--budget-run-usd' : '--budget-usd'
  const enough = (Math.ceil(needed * 1.5 * 20) / 20).toFixed(2)
  return `The first request of ${model} can cost about ${dollars(needed)}, and ${dollars(most)} may be spent: the task would end before it begins. Use ${flag} ${enough} or more.`
}
