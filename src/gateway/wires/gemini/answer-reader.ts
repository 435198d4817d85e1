import { createHash } from 'node:crypto'
import { fieldsOf, isObject } from '../../../domain/base/object.ts'
import { asList, asText, parsedObject } from '../fields.ts'
import type { EndReason, ModelAnswer, ModelEvent } from '../model-event.ts'
import type { JsonObject, Part } from '../model-request.ts'
import { brokenOff, noJson } from '../refusals.ts'
import type { AnswerReader, Frame, UsageReader } from '../wire.ts'
import { callOf, wordsOf } from './parts.ts'
import { refusedInStream } from './refusals.ts'
import { readUsage } from './usage.ts'

/** Each frame of Gemini's stream is a whole answer with the parts that are new; calls come in one piece. */
export class GeminiAnswerReader implements AnswerReader {
  #id: string | undefined
  #calls = 0
  #isOver = false

  read({ data }: Frame): ModelEvent[] {
    if (this.#isOver) return []
    const body = parsedObject(data)
    if (body === undefined) return this.#fail(noJson)
    if (isObject(body.error)) return this.#fail(refusedInStream(body))
    const start: ModelEvent[] = []
    if (this.#id === undefined) {
      this.#id = idOf(body, data)
      start.push({ type: 'start', id: this.#id, model: asText(body.modelVersion) })
    }
    const parts = partsOf(body).flatMap((part) => this.#eventsOf(part))
    const usage = readUsage(body)
    const end = this.#ending(body)
    return [...start, ...parts, ...(usage ? [{ type: 'usage', usage } as const] : []), ...end]
  }

  end(): ModelEvent[] {
    return this.#isOver ? [] : this.#fail(brokenOff)
  }

  #eventsOf(part: JsonObject): ModelEvent[] {
    if (!isObject(part.functionCall)) {
      return wordsOf(part).flatMap((words): ModelEvent[] => {
        if (words.kind === 'text') return [{ type: 'text', text: words.text }]
        const thought: ModelEvent[] = words.text === '' ? [] : [{ type: 'thinking', text: words.text }]
        return words.seal === undefined ? thought : [...thought, { type: 'thinking_seal', seal: words.seal }]
      })
    }
    const index = this.#calls
    this.#calls += 1
    const { id, name, input, seal } = callOf(part, part.functionCall, ownId(this.#id, index))
    return [
      { type: 'tool_call', index, id, name, ...(seal === undefined ? {} : { seal }) },
      { type: 'tool_input', index, json: JSON.stringify(input) },
    ]
  }

  #ending(body: JsonObject): ModelEvent[] {
    const said = endingOf(body)
    if (said === undefined) return []
    const reason = reasonOf(said, this.#calls > 0)
    if (reason === undefined) return this.#fail(lostItsWay(said))
    this.#isOver = true
    return [{ type: 'end', reason }]
  }

  #fail(error: ModelEvent): ModelEvent[] {
    this.#isOver = true
    return [error]
  }
}

export function readWhole(body: JsonObject): ModelAnswer {
  const id = idOf(body, JSON.stringify(body))
  const parts: Part[] = []
  let calls = 0
  for (const part of partsOf(body)) {
    if (isObject(part.functionCall)) {
      parts.push(callOf(part, part.functionCall, ownId(id, calls)))
      calls += 1
      continue
    }
    for (const words of wordsOf(part)) {
      const last = parts.at(-1)
      if (words.kind === 'text' && last?.kind === 'text') parts[parts.length - 1] = { kind: 'text', text: last.text + words.text }
      else parts.push(words)
    }
  }
  const said = endingOf(body)
  const usage = readUsage(body)
  const reason = (said === undefined ? undefined : reasonOf(said, calls > 0)) ?? 'refused'
  return { id, model: asText(body.modelVersion), parts, reason, ...(usage ? { usage } : {}) }
}

/** What passes is read only as far as the bill needs it. A stream that is not SSE is one list of frames. */
export function usageReader(): UsageReader {
  let usage: UsageReader['usage']
  let hasEnded = false
  let isGrounded = false
  const whole = (body: JsonObject) => {
    for (const answer of Array.isArray(body) ? body.map(fieldsOf) : [body]) {
      usage = readUsage(answer) ?? usage
      isGrounded ||= asList(fieldsOf(candidateOf(answer).groundingMetadata).webSearchQueries).length > 0
      hasEnded ||= endingOf(answer) !== undefined
    }
  }
  return {
    whole,
    frame: ({ data }) => {
      if (/"usageMetadata"|"finishReason"|"blockReason"|"groundingMetadata"/.test(data)) whole(parsedObject(data) ?? {})
    },
    // An answer that rests on searches is paid for once, however many there were.
    get usage() {
      return usage && isGrounded ? { ...usage, pieces: { grounded_prompts: 1 } } : usage
    },
    get hasEnded() {
      return hasEnded
    },
  }
}

const candidateOf = (body: JsonObject) => fieldsOf(asList(body.candidates)[0])
const partsOf = (body: JsonObject) => asList(fieldsOf(candidateOf(body).content).parts).map(fieldsOf)

const idOf = (body: JsonObject, text: string) =>
  asText(body.responseId) || createHash('sha256').update(text).digest('hex').slice(0, 24)

/** Gemini may give its calls no ids; ours must differ from those of every other answer in the conversation. */
const ownId = (answer: string | undefined, index: number) => `call_${answer}_${index}`

/** How Gemini says that it is done, or that it will not begin. */
function endingOf(body: JsonObject): string | undefined {
  const reason = asText(candidateOf(body).finishReason)
  if (reason !== '' && reason !== 'FINISH_REASON_UNSPECIFIED') return reason
  return asText(fieldsOf(body.promptFeedback).blockReason) || undefined
}

/** Undefined where the model lost its way: whoever asked may try again. */
function reasonOf(said: string, hasCalls: boolean): EndReason | undefined {
  if (said === 'STOP') return hasCalls ? 'tool_calls' : 'end'
  if (said === 'MAX_TOKENS') return 'max_tokens'
  return lostWay.has(said) ? undefined : 'refused'
}

const lostWay = new Set([
  'MALFORMED_FUNCTION_CALL',
  'UNEXPECTED_TOOL_CALL',
  'MISSING_THOUGHT_SIGNATURE',
  'MALFORMED_RESPONSE',
  'OTHER',
])
const lostItsWay = (said: string): ModelEvent => ({
  type: 'error',
  kind: 'unavailable',
  message: `The model broke off its answer (${said}); ask again.`,
})
