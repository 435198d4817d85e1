import type { AgentEvent } from '../../domain/event/event.ts'
import { noUsage, tokensOf, usageBeyond } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/money/usage.ts'
import { type Result, usageOf, usageOfMessages } from './result.ts'
import type { ModelCall } from './translate.ts'

/** Tells what a turn uses while it goes on, each token once. */
export interface UsageTeller {
  /** A message comes as several lines, and each repeats its figures: only what is new is told. */
  called(call: ModelCall): AgentEvent[]
  /** The result knows all of it: of an answer's length, and of what subagents used, the lines before tell little. */
  ended(result: Result): AgentEvent[]
  /** What the messages so far used. */
  soFar(): Usage | undefined
}

export function createUsageTeller(): UsageTeller {
  const calls = new Map<string, ModelCall>()
  const event = (usage: Usage, model: string | undefined): AgentEvent[] =>
    tokensOf(usage) === 0 ? [] : [{ type: 'agent.usage', data: { usage, ...(model === undefined ? {} : { model }) } }]
  const used = (model?: string) =>
    usageOfMessages([...calls.values()].filter((call) => model === undefined || call.model === model)) ?? noUsage
  return {
    called(call) {
      const before = usageOfMessages([calls.get(call.id)].filter((known) => known !== undefined)) ?? noUsage
      calls.set(call.id, call)
      return event(usageBeyond(usageOfMessages([call]) ?? noUsage, before), call.model)
    },
    ended(result) {
      const told = usageOf(result)
      if (!told) return []
      const perModel = result.model_usage_since_last_result ?? {}
      const models = Object.keys(perModel)
      const isKnown = [...calls.values()].every(({ model }) => model !== undefined && models.includes(model))
      // How many turns there were is counted by messages, if any was told: the program counts interruptions and the like as well.
      const turns = calls.size === 0 ? told.turns : 0
      const rest = (all: Usage, known: Usage, isFirst = true) => ({ ...usageBeyond(all, known), turns: isFirst ? turns : 0 })
      if (models.length === 0 || !isKnown) return event(rest(told, used()), models.length === 1 ? models[0] : undefined)
      return models.flatMap((model, index) => {
        const own = usageOf({ ...result, model_usage_since_last_result: { [model]: perModel[model]! } })
        return event(rest(own ?? noUsage, used(model), index === 0), model)
      })
    },
    soFar: () => (calls.size === 0 ? undefined : used()),
  }
}
