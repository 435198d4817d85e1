import { fieldsOf } from '../../../domain/base/object.ts'
import { objectsOf, parsedObject, present, textOf } from '../fields.ts'
import type { EndReason, ModelAnswer, ModelEvent } from '../model-event.ts'
import type { JsonObject, Part } from '../model-request.ts'
import { judged } from '../openai/refusal.ts'
import { brokenOff, gaveUp, noJson } from '../refusals.ts'
import { sealOfNextCall } from '../seal.ts'
import { createTurns } from '../turns.ts'
import type { AnswerReader } from '../wire.ts'
import { callName, callOf, isCall, sealOf, thoughtOf } from './items.ts'
import { responseUsage } from './usage.ts'

export function answerReader(): AnswerReader {
  let hasStarted = false
  let hasEnded = false
  let calls = 0
  let sealAhead: string | undefined
  /** What is known of the items that are under way, by their place. */
  const items = new Map<unknown, { call?: number; hasPieces: boolean; summaries: number }>()
  const at = (index: unknown) => {
    const known = items.get(index) ?? { hasPieces: false, summaries: 0 }
    items.set(index, known)
    return known
  }

  function start(response: JsonObject): ModelEvent[] {
    if (hasStarted) return []
    hasStarted = true
    return [{ type: 'start', id: textOf(response.id) ?? '', model: textOf(response.model) ?? '' }]
  }

  function added(item: JsonObject, index: unknown): ModelEvent[] {
    if (!isCall(item)) return []
    const known = at(index)
    known.call = calls
    calls += 1
    const seal = sealAhead
    sealAhead = undefined
    return [
      {
        type: 'tool_call',
        index: known.call,
        id: textOf(item.call_id) ?? textOf(item.id) ?? '',
        name: callName(item),
        ...(seal !== undefined && { seal }),
      },
    ]
  }

  /** The pieces of an item may be left out: what it was stands in its end. */
  function done(item: JsonObject, index: unknown): ModelEvent[] {
    const known = at(index)
    items.delete(index)
    if (isCall(item)) {
      const begun = known.call === undefined ? added(item, index) : []
      const call = known.call ?? calls - 1
      items.delete(index)
      return known.hasPieces ? begun : [...begun, { type: 'tool_input', index: call, json: JSON.stringify(callOf(item).input) }]
    }
    if (item.type === 'message') {
      const text = known.hasPieces ? '' : messageText(item)
      return text === '' ? [] : [{ type: 'text', text }]
    }
    if (item.type !== 'reasoning') return []
    const { text } = thoughtOf(item)
    const thought: ModelEvent[] = known.hasPieces || text === '' ? [] : [{ type: 'thinking', text }]
    const seal = sealOf(item)
    const ahead = text === '' ? sealOfNextCall(seal) : undefined
    if (ahead !== undefined) sealAhead = ahead
    else if (seal !== undefined) thought.push({ type: 'thinking_seal', seal })
    return thought
  }

  function piece(index: unknown, type: 'text' | 'thinking', delta: unknown): ModelEvent[] {
    const text = textOf(delta) ?? ''
    if (text === '') return []
    at(index).hasPieces = true
    return [{ type, text }]
  }

  function ended(response: JsonObject, last: ModelEvent): ModelEvent[] {
    hasEnded = true
    const usage = responseUsage(response)
    return [...start(response), ...(usage ? [{ type: 'usage', usage } as const] : []), last]
  }

  return {
    read({ data }) {
      const body = parsedObject(data)
      if (!body) return [noJson]
      const index = body.output_index
      switch (body.type) {
        case 'response.created':
        case 'response.in_progress':
          return start(fieldsOf(body.response))
        case 'response.output_item.added':
          return added(fieldsOf(body.item), index)
        case 'response.output_item.done':
          return done(fieldsOf(body.item), index)
        case 'response.output_text.delta':
        case 'response.refusal.delta':
          return piece(index, 'text', body.delta)
        case 'response.reasoning_summary_part.added': {
          const known = at(index)
          known.summaries += 1
          return known.summaries > 1 ? [{ type: 'thinking', text: '\n\n' }] : []
        }
        case 'response.reasoning_summary_text.delta':
        case 'response.reasoning_text.delta':
          return piece(index, 'thinking', body.delta)
        case 'response.function_call_arguments.delta': {
          const known = at(index)
          const json = textOf(body.delta) ?? ''
          if (known.call === undefined || json === '') return []
          known.hasPieces = true
          return [{ type: 'tool_input', index: known.call, json }]
        }
        case 'response.completed':
        case 'response.done':
        case 'response.incomplete': {
          const response = fieldsOf(body.response)
          return ended(response, { type: 'end', reason: reasonOf(response, calls > 0) })
        }
        case 'response.failed':
        case 'error': {
          const response = fieldsOf(body.response)
          const error = fieldsOf(response.error ?? body.error ?? body)
          const { kind, message } = judged(error, textOf(error.message) ?? 'The provider gave up.', {})
          return ended(response, { type: 'error', kind, message }).filter((event) => event.type !== 'start')
        }
        default:
          return []
      }
    },
    end: () => (hasEnded ? [] : [brokenOff]),
  }
}

function reasonOf(response: JsonObject, hasCalls: boolean): EndReason {
  const why = fieldsOf(response.incomplete_details).reason
  if (why === 'content_filter') return 'refused'
  if (response.status === 'incomplete' || why !== undefined) return 'max_tokens'
  return hasCalls ? 'tool_calls' : 'end'
}

const messageText = (item: JsonObject) =>
  objectsOf(item.content)
    .map((block) => textOf(block.text) ?? textOf(block.refusal) ?? '')
    .join('')

export function readWhole(body: JsonObject): ModelAnswer {
  if (body.status === 'failed') throw gaveUp(body.error)
  const turns = createTurns()
  const output = objectsOf(body.output)
  turns.add('assistant', output.flatMap(partsOf))
  return present({
    id: textOf(body.id) ?? '',
    model: textOf(body.model) ?? '',
    parts: turns.messages()[0]?.parts ?? [],
    reason: reasonOf(body, output.some(isCall)),
    usage: responseUsage(body),
  })
}

function partsOf(item: JsonObject): Part[] {
  if (isCall(item)) return [callOf(item)]
  if (item.type === 'reasoning') return [thoughtOf(item)]
  const text = item.type === 'message' ? messageText(item) : ''
  return text === '' ? [] : [{ kind: 'text', text }]
}
