import { createHash } from 'node:crypto'
import { fieldsOf } from '../../../domain/base/object.ts'
import { asText, inputOf, objectsOf, parsedObject } from '../fields.ts'
import type { EndReason, ModelAnswer, ModelEvent, ModelUsage } from '../model-event.ts'
import type { JsonObject, Part, ToolCallPart } from '../model-request.ts'
import { brokenOff, noJson } from '../refusals.ts'
import type { AnswerReader, Frame, UsageReader } from '../wire.ts'
import { refusedInStream } from './refusals.ts'
import { readUsage } from './usage.ts'

/** Each line is a piece of the message; calls come in one piece. */
export class OllamaAnswerReader implements AnswerReader {
  #id: string | undefined
  #calls = 0
  #isOver = false

  read({ data }: Frame): ModelEvent[] {
    if (this.#isOver) return []
    const body = parsedObject(data)
    if (body === undefined) return this.#fail(noJson)
    if (body.error !== undefined) return this.#fail(refusedInStream(body))
    const events: ModelEvent[] = []
    if (this.#id === undefined) {
      this.#id = idOf(body)
      events.push({ type: 'start', id: this.#id, model: asText(body.model) })
    }
    for (const part of partsOf(body, this.#id, this.#calls)) events.push(...this.#eventsOf(part))
    if (body.done !== true) return events
    const usage = readUsage(body)
    if (usage) events.push({ type: 'usage', usage })
    this.#isOver = true
    return [...events, { type: 'end', reason: reasonOf(body, this.#calls > 0) }]
  }

  end(): ModelEvent[] {
    return this.#isOver ? [] : this.#fail(brokenOff)
  }

  #eventsOf(part: Part): ModelEvent[] {
    if (part.kind === 'text') return [{ type: 'text', text: part.text }]
    if (part.kind === 'thinking') return [{ type: 'thinking', text: part.text }]
    if (part.kind !== 'tool_call') return []
    const index = this.#calls
    this.#calls += 1
    return [
      { type: 'tool_call', index, id: part.id, name: part.name },
      { type: 'tool_input', index, json: JSON.stringify(part.input) },
    ]
  }

  #fail(error: ModelEvent): ModelEvent[] {
    this.#isOver = true
    return [error]
  }
}

export function readWhole(body: JsonObject): ModelAnswer {
  const id = idOf(body)
  const parts = partsOf(body, id, 0)
  const usage = readUsage(body)
  const reason = reasonOf(
    body,
    parts.some((part) => part.kind === 'tool_call'),
  )
  return { id, model: asText(body.model), parts, reason, ...(usage ? { usage } : {}) }
}

export function usageReader(): UsageReader {
  let usage: ModelUsage | undefined
  let hasEnded = false
  const whole = (body: JsonObject) => {
    usage = readUsage(body) ?? usage
    hasEnded ||= body.done === true
  }
  return {
    whole,
    frame: ({ data }) => {
      if (/"done"\s*:\s*true/.test(data)) whole(parsedObject(data) ?? {})
    },
    get usage() {
      return usage
    },
    get hasEnded() {
      return hasEnded
    },
  }
}

function partsOf(body: JsonObject, answer: string, callsBefore: number): Part[] {
  const message = fieldsOf(body.message)
  const thinking = asText(message.thinking)
  const text = asText(message.content)
  const calls = objectsOf(message.tool_calls).map((call, index): ToolCallPart => {
    const made = fieldsOf(call.function)
    const input = typeof made.arguments === 'string' ? inputOf(made.arguments) : fieldsOf(made.arguments)
    const id = asText(call.id) || `call_${answer}_${callsBefore + index}`
    return { kind: 'tool_call', id, name: asText(made.name), input }
  })
  return [
    ...(thinking === '' ? [] : [{ kind: 'thinking', text: thinking } as const]),
    ...(text === '' ? [] : [{ kind: 'text', text } as const]),
    ...calls,
  ]
}

/** Answers have no id; their time, told to the nanosecond, stands for one. */
const idOf = (body: JsonObject) =>
  createHash('sha256')
    .update(`${asText(body.model)} ${asText(body.created_at)}`)
    .digest('hex')
    .slice(0, 24)

function reasonOf(body: JsonObject, hasCalls: boolean): EndReason {
  if (body.done_reason === 'length') return 'max_tokens'
  return hasCalls ? 'tool_calls' : 'end'
}
