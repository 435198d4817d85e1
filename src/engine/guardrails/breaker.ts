import { createHash } from 'node:crypto'
import { canonicalJson } from '../../domain/base/canonical-json.ts'
import type { AgentEvent, EventData } from '../../domain/event/event.ts'
import type { Guardrails } from '../../domain/run/guardrails.ts'
import { normalised } from './normalise.ts'

/** What the breaker says to an event: the run goes round in circles and must be stopped, or somebody should know of something. */
export type Alarm =
  | { readonly kind: 'trip'; readonly message: string }
  | { readonly kind: 'warning'; readonly code: string; readonly detail: string }

/** Watches what one run does. Pure over its events: the same events always give the same alarms. */
export interface Breaker {
  saw(event: AgentEvent): Alarm | undefined
  /** A turn is what an agent says and does until it hears back from its tools. */
  readonly turns: number
  /** How many calls only kept its list of things to do. */
  readonly todoCalls: number
}

/** Limits may change with the model, which some programs name only once they work. */
export function createBreaker(limitsFor: (model: string | undefined) => Guardrails): Breaker {
  let limits = limitsFor(undefined)
  let model: string | undefined
  const calls = new Map<string, { readonly tool: string; readonly turn: number }>()
  /** Calls of this turn that have not returned. */
  const open = new Set<string>()
  let turns = 0
  let isBetween = true
  let didTodo = false
  let didMore = false
  let todoTurns = 0
  let todoCalls = 0
  let lastCall = { key: '', times: 0 }
  let failure = { key: '', turn: -1, times: 0 }
  let silentTurns = 0
  let isSilent: boolean | undefined

  /** Whatever an agent does begins a turn, unless it still waits for tools of the one before. */
  function act(): Alarm | undefined {
    if (!isBetween || open.size > 0) return undefined
    isBetween = false
    turns++
    const wasTodoOnly = didTodo && !didMore
    todoTurns = wasTodoOnly ? todoTurns + 1 : 0
    didTodo = false
    didMore = false
    if (limits.todoOnly === 0 || !wasTodoOnly || todoTurns !== limits.todoOnly) return undefined
    return {
      kind: 'warning',
      code: 'todo_only',
      detail: `In ${todoTurns} turns in a row the agent did nothing but write its list of things to do.`,
    }
  }

  function called({ callId, tool, input }: EventData<'agent.tool_called'>): Alarm | undefined {
    calls.set(callId, { tool, turn: turns })
    if (isTodo(tool)) {
      todoCalls++
      didTodo = true
      return undefined
    }
    didMore = true
    // A subagent's calls come while its own has not returned.
    if (isSubagent(tool)) return undefined
    open.add(callId)
    if (isWaiting(tool)) return undefined
    const key = digest([tool, canonicalJson(input)])
    lastCall = { key, times: lastCall.key === key ? lastCall.times + 1 : 1 }
    if (limits.sameCall === 0 || lastCall.times < limits.sameCall) return undefined
    return trip(`it made the same call of ${tool} ${lastCall.times} times in a row`)
  }

  function returned({ callId, output, isError }: EventData<'agent.tool_returned'>): Alarm | undefined {
    open.delete(callId)
    if (open.size === 0) isBetween = true
    const call = calls.get(callId)
    calls.delete(callId)
    if (!call || isTodo(call.tool)) return undefined
    if (!isError) {
      failure = { key: '', turn: -1, times: 0 }
      return undefined
    }
    const error = normalised(output)
    const key = digest([call.tool, error])
    // Calls that were made at once have failed before the agent could learn from the first.
    if (failure.key === key && failure.turn === call.turn) return undefined
    failure = { key, turn: call.turn, times: failure.key === key ? failure.times + 1 : 1 }
    if (limits.sameError === 0 || failure.times < limits.sameError) return undefined
    return trip(`${call.tool} failed ${failure.times} times in a row with the same error: ${error}`)
  }

  /** Programs tell of a call of the model before or after what it brought; between two of them lies one call's worth. */
  function used(data: EventData<'agent.usage'>): Alarm | undefined {
    if (data.model !== undefined && data.model !== model) {
      model = data.model
      limits = limitsFor(model)
    }
    if (data.usage.turns === 0) return undefined
    if (isSilent !== undefined) silentTurns = isSilent ? silentTurns + 1 : 0
    isSilent = true
    if (limits.silentTurns === 0 || silentTurns < limits.silentTurns) return undefined
    return trip(`it took ${silentTurns} turns in a row without a word and without a tool`)
  }

  return {
    saw(event) {
      switch (event.type) {
        case 'agent.message': {
          const alarm = act()
          if (event.data.text.trim() !== '') {
            isSilent &&= false
            didMore = true
          }
          return alarm
        }
        case 'agent.thinking':
          return act()
        case 'agent.tool_called': {
          const alarm = act()
          isSilent &&= false
          return called(event.data) ?? alarm
        }
        case 'agent.tool_returned':
          return returned(event.data)
        case 'agent.usage':
          return used(event.data)
        default:
          return undefined
      }
    },
    get turns() {
      return turns
    },
    get todoCalls() {
      return todoCalls
    },
  }
}

const trip = (what: string): Alarm => ({
  kind: 'trip',
  message: `The agent went round in circles and was stopped: ${what}. Look at what it tried, then go on with "pawl task retry", or change guardrails in the settings.`,
})
const digest = (parts: readonly string[]) => createHash('sha256').update(JSON.stringify(parts)).digest('base64')

const named = (tool: string) =>
  tool
    .toLowerCase()
    .replace(/^.*[./]/, '')
    .replaceAll(/[_-]/g, '')
const todoTools = new Set(['todowrite', 'todoread', 'todolist', 'updateplan', 'taskcreate', 'taskupdate', 'tasklist', 'taskget'])
const subagentTools = new Set(['task', 'agent', 'spawnagent', 'dispatchagent', 'subagent'])
const waitingTools = new Set(['bashoutput', 'taskoutput', 'wait', 'waitagent', 'sleep', 'killshell', 'writestdin'])
const isTodo = (tool: string) => todoTools.has(named(tool))
const isSubagent = (tool: string) => subagentTools.has(named(tool)) || tool.startsWith('agents.')
const isWaiting = (tool: string) => waitingTools.has(named(tool))
