import { inputOf, present } from '../fields.ts'
import { ndjsonFrame } from '../frames.ts'
import type { EndReason, ModelAnswer, ModelUsage } from '../model-event.ts'
import type { JsonObject } from '../model-request.ts'
import { type HeldCall, wholeCallWriter } from '../whole-calls.ts'
import type { AnswerWriter } from '../wire.ts'
import { errorBody } from './refusals.ts'
import { writeUsage } from './usage.ts'

export function ollamaAnswerWriter(asked: string): AnswerWriter {
  let model = asked
  const line = (message: JsonObject, rest: JsonObject = { done: false }) =>
    ndjsonFrame({ ...envelope(model), message: { role: 'assistant', ...message }, ...rest })
  const written = (calls: readonly HeldCall[]) =>
    calls.length === 0
      ? ''
      : line({ content: '', tool_calls: calls.map(({ id, name, json }) => writeCall(id, name, inputOf(json))) })
  return wholeCallWriter({
    start(event) {
      model = event.model || model
    },
    piece(event, calls) {
      // There is no place for a seal.
      if (event.type === 'thinking_seal') return written(calls)
      return written(calls) + line(event.type === 'text' ? { content: event.text } : { content: '', thinking: event.text })
    },
    last: (reason, usage, calls) => written(calls) + line({ content: '' }, ending(reason, usage)),
    error: (event) => ndjsonFrame(errorBody(event)),
  })
}

export function answerWhole({ model, parts, reason, usage }: ModelAnswer): JsonObject {
  const joined = (kind: 'text' | 'thinking') => parts.map((part) => (part.kind === kind ? part.text : '')).join('')
  const calls = parts.flatMap((part) => (part.kind === 'tool_call' ? [writeCall(part.id, part.name, part.input)] : []))
  const message = present({
    role: 'assistant',
    content: joined('text'),
    thinking: joined('thinking') || undefined,
    tool_calls: calls.length === 0 ? undefined : calls,
  })
  return { ...envelope(model), message, ...ending(reason, usage) }
}

const writeCall = (id: string, name: string, input: JsonObject): JsonObject => ({ id, function: { name, arguments: input } })

/** The time is one that clients parse and none that they could take for the answer's. */
const envelope = (model: string): JsonObject => ({ model, created_at: new Date(0).toISOString() })

const ending = (reason: EndReason, usage: ModelUsage | undefined): JsonObject => ({
  done: true,
  done_reason: reason === 'max_tokens' ? 'length' : 'stop',
  ...writeUsage(usage),
})
