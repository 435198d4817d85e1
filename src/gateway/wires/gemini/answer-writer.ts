import { sseFrame } from '../../frames.ts'
import type { EndReason, ModelAnswer, ModelEvent, ModelUsage } from '../../model-event.ts'
import type { JsonObject, Part } from '../../model-request.ts'
import { sealForClient } from '../../seal.ts'
import type { AnswerWriter } from '../../wire.ts'
import { inputOf } from '../fields.ts'
import { imagePart } from './parts.ts'
import { refusalBody } from './refusals.ts'
import { writeUsage } from './usage.ts'

/** Gemini's calls come in one piece, so they wait for the end of their input; the last frame tells the usage. */
export class GeminiAnswerWriter implements AnswerWriter {
  #envelope: JsonObject = {}
  #usage: ModelUsage | undefined
  #reason: EndReason | undefined
  #isClosed = false
  readonly #calls = new Map<number, { readonly call: Extract<ModelEvent, { type: 'tool_call' }>; json: string }>()

  write(event: ModelEvent): string {
    switch (event.type) {
      case 'start':
        this.#envelope = { modelVersion: event.model, responseId: event.id }
        return ''
      case 'text':
        return this.#frame([...this.#waiting(), { text: event.text }])
      case 'thinking':
        return this.#frame([...this.#waiting(), { text: event.text, thought: true }])
      case 'thinking_seal':
        return this.#frame([...this.#waiting(), { text: '', thoughtSignature: sealForClient('gemini', event.seal) }])
      case 'tool_call':
        this.#calls.set(event.index, { call: event, json: '' })
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
        return sseFrame(refusalBody(event, new Date(0)))
    }
  }

  end(): string {
    if (this.#isClosed || this.#reason === undefined) return ''
    this.#isClosed = true
    return this.#frame(this.#waiting(), this.#reason)
  }

  #waiting(): JsonObject[] {
    const parts = [...this.#calls.values()].map(({ call, json }) =>
      writePart({ kind: 'tool_call', ...call, input: inputOf(json) }),
    )
    this.#calls.clear()
    return parts
  }

  #frame(parts: JsonObject[], reason?: EndReason): string {
    return sseFrame(answerBody(parts, reason, reason && this.#usage, this.#envelope))
  }
}

export function answerWhole(answer: ModelAnswer): JsonObject {
  return answerBody(answer.parts.map(writePart), answer.reason, answer.usage, {
    modelVersion: answer.model,
    responseId: answer.id,
  })
}

function answerBody(
  parts: readonly JsonObject[],
  reason: EndReason | undefined,
  usage: ModelUsage | undefined,
  envelope: JsonObject,
): JsonObject {
  return {
    candidates: [{ content: { role: 'model', parts }, ...(reason ? { finishReason: finishReasons[reason] } : {}), index: 0 }],
    ...(usage ? { usageMetadata: writeUsage(usage) } : {}),
    ...envelope,
  }
}

const finishReasons: Readonly<Record<EndReason, string>> = {
  end: 'STOP',
  tool_calls: 'STOP',
  stop_sequence: 'STOP',
  paused: 'STOP',
  max_tokens: 'MAX_TOKENS',
  refused: 'SAFETY',
}

function writePart(part: Part): JsonObject {
  const seal = 'seal' in part && part.seal !== undefined ? { thoughtSignature: sealForClient('gemini', part.seal) } : {}
  if (part.kind === 'tool_call') return { functionCall: { id: part.id, name: part.name, args: part.input }, ...seal }
  if (part.kind === 'thinking') return part.text === '' ? { text: '', ...seal } : { text: part.text, thought: true, ...seal }
  if (part.kind === 'image') return imagePart(part)
  return { text: part.kind === 'text' ? part.text : '' }
}
