import { ndjsonFrame } from '../../frames.ts'
import type { EndReason, ModelAnswer, ModelEvent, ModelUsage } from '../../model-event.ts'
import type { JsonObject } from '../../model-request.ts'
import type { AnswerWriter } from '../../wire.ts'
import { inputOf, present } from '../fields.ts'
import { errorBody } from './refusals.ts'
import { writeUsage } from './usage.ts'

/** Ollama's calls come in one piece, so they wait for the end of their input; the last line tells the usage. */
export class OllamaAnswerWriter implements AnswerWriter {
  #model: string
  #usage: ModelUsage | undefined
  #reason: EndReason | undefined
  #isClosed = false
  readonly #calls = new Map<number, { readonly id: string; readonly name: string; json: string }>()

  constructor(model: string) {
    this.#model = model
  }

  write(event: ModelEvent): string {
    switch (event.type) {
      case 'start':
        this.#model = event.model || this.#model
        return ''
      case 'text':
        return this.#waiting() + this.#line({ content: event.text })
      case 'thinking':
        return this.#waiting() + this.#line({ content: '', thinking: event.text })
      case 'thinking_seal':
        return ''
      case 'tool_call':
        this.#calls.set(event.index, { id: event.id, name: event.name, json: '' })
        return ''
      case 'tool_input': {
        const open = this.#calls.get(event.index)
        if (open) open.json += event.json
        return ''
      }
      case 'usage':
        this.#usage = event.usage
        return ''
      case 'end':
        this.#reason = event.reason
        return ''
      case 'error':
        this.#isClosed = true
        return ndjsonFrame(errorBody(event))
    }
  }

  end(): string {
    if (this.#isClosed || this.#reason === undefined) return ''
    this.#isClosed = true
    return this.#waiting() + this.#line({ content: '' }, ending(this.#reason, this.#usage))
  }

  #waiting(): string {
    if (this.#calls.size === 0) return ''
    const calls = [...this.#calls.values()].map(({ id, name, json }) => writeCall(id, name, inputOf(json)))
    this.#calls.clear()
    return this.#line({ content: '', tool_calls: calls })
  }

  #line(message: JsonObject, rest: JsonObject = { done: false }): string {
    return ndjsonFrame({ ...envelope(this.#model), message: { role: 'assistant', ...message }, ...rest })
  }
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
