import { fieldsOf, isObject } from '../../../domain/base/object.ts'
import { objectsOf, parsedObject, present, textOf } from '../fields.ts'
import type { EndReason, ModelAnswer, ModelEvent } from '../model-event.ts'
import type { JsonObject, Part } from '../model-request.ts'
import { judged } from '../openai/refusal.ts'
import { usageOf } from '../openai/usage.ts'
import { brokenOff, gaveUp, noJson } from '../refusals.ts'
import type { AnswerReader } from '../wire.ts'
import { callOf, callSeal, sealOf, thoughtOf } from './read-request.ts'

export function answerReader(): AnswerReader {
  let hasStarted = false
  let answerId = ''
  let hasEnded = false
  let reason: EndReason | undefined
  let seal: string | undefined
  /** By the provider's index: ours, and whether anything of its input came. */
  const calls = new Map<number, { index: number; isEmpty: boolean }>()

  function pieces(delta: JsonObject): ModelEvent[] {
    const events: ModelEvent[] = []
    const thought = textOf(delta.reasoning_content) ?? textOf(delta.reasoning)
    if (thought) events.push({ type: 'thinking', text: thought })
    seal = sealOf(delta.reasoning_details) ?? seal
    const text = textOf(delta.content) || textOf(delta.refusal)
    const toolCalls = objectsOf(delta.tool_calls)
    if ((text || toolCalls.length > 0) && seal !== undefined) events.push(...sealed())
    if (text) events.push({ type: 'text', text })
    for (const call of toolCalls) events.push(...called(call))
    return events
  }

  function sealed(): ModelEvent[] {
    if (seal === undefined) return []
    const event: ModelEvent = { type: 'thinking_seal', seal }
    seal = undefined
    return [event]
  }

  function called(call: JsonObject): ModelEvent[] {
    const made = fieldsOf(call.function)
    const json = textOf(made.arguments) ?? ''
    const id = textOf(call.id)
    // Some servers number all calls 0, and tell them apart by their ids alone.
    const known = typeof call.index === 'number' ? call.index : calls.size
    const name = textOf(made.name)
    let ours = calls.get(known)
    const events: ModelEvent[] = []
    if (!ours || (id && name && !ours.isEmpty)) {
      ours = { index: total, isEmpty: true }
      total += 1
      calls.set(known, ours)
      const own = callSeal(call)
      events.push({
        type: 'tool_call',
        index: ours.index,
        id: id || `call_${ours.index}_${answerId}`,
        name: name ?? '',
        ...(own !== undefined && { seal: own }),
      })
    }
    if (json !== '') {
      ours.isEmpty = false
      events.push({ type: 'tool_input', index: ours.index, json })
    }
    return events
  }
  let total = 0

  function ended(): ModelEvent[] {
    hasEnded = true
    const empty = [...calls.values()].filter(({ isEmpty }) => isEmpty)
    const why = reason === 'end' && total > 0 ? 'tool_calls' : (reason ?? 'end')
    return [
      ...empty.map(({ index }): ModelEvent => ({ type: 'tool_input', index, json: '{}' })),
      ...sealed(),
      { type: 'end', reason: why },
    ]
  }

  return {
    read({ data }) {
      if (data === '[DONE]') return hasEnded ? [] : ended()
      const body = parsedObject(data)
      if (!body) return [noJson]
      if (body.error !== undefined && body.error !== null) {
        hasEnded = true
        const error = fieldsOf(body.error)
        const { kind, message } = judged(error, textOf(error.message) ?? textOf(body.error) ?? 'The provider gave up.', {})
        return [{ type: 'error', kind, message }]
      }
      const events: ModelEvent[] = []
      if (!hasStarted) {
        hasStarted = true
        answerId = textOf(body.id) ?? ''
        events.push({ type: 'start', id: answerId, model: textOf(body.model) ?? '' })
      }
      const choice = fieldsOf(objectsOf(body.choices)[0])
      events.push(...pieces(fieldsOf(choice.delta ?? choice.message)))
      reason = reasonOf(choice.finish_reason) ?? reason
      const usage = body.usage ?? choice.usage
      if (isObject(usage)) events.push({ type: 'usage', usage: usageOf(usage) })
      return events
    },
    /** Not every server says that it is done. */
    end: () => (hasEnded ? [] : reason === undefined ? [brokenOff] : ended()),
  }
}

const reasons: Readonly<Record<string, EndReason>> = {
  stop: 'end',
  length: 'max_tokens',
  tool_calls: 'tool_calls',
  function_call: 'tool_calls',
  content_filter: 'refused',
}
const reasonOf = (reason: unknown): EndReason | undefined => {
  const word = textOf(reason)
  return word === undefined ? undefined : Object.hasOwn(reasons, word) ? reasons[word] : 'end'
}

export function readWhole(body: JsonObject): ModelAnswer {
  if (body.choices === undefined && body.error !== undefined) throw gaveUp(body.error)
  const choice = fieldsOf(objectsOf(body.choices)[0])
  const message = fieldsOf(choice.message)
  const calls = objectsOf(message.tool_calls).map(callOf)
  const text = textOf(message.content) || textOf(message.refusal) || ''
  const parts: Part[] = [...thoughtOf(message), ...(text === '' ? [] : [{ kind: 'text', text } as const]), ...calls]
  const reason = reasonOf(choice.finish_reason) ?? 'end'
  return present({
    id: textOf(body.id) ?? '',
    model: textOf(body.model) ?? '',
    parts,
    reason: reason === 'end' && calls.length > 0 ? 'tool_calls' : reason,
    usage: isObject(body.usage) ? usageOf(body.usage) : undefined,
  })
}
