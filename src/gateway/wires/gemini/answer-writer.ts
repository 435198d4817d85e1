import { inputOf } from '../fields.ts'
import { sseFrame } from '../frames.ts'
import type { EndReason, ModelAnswer, ModelUsage } from '../model-event.ts'
import type { JsonObject, Part } from '../model-request.ts'
import { sealForClient } from '../seal.ts'
import { type HeldCall, type WholeCallFormat, wholeCallWriter } from '../whole-calls.ts'
import type { AnswerWriter } from '../wire.ts'
import { imagePart } from './parts.ts'
import { refusalBody } from './refusals.ts'
import { writeUsage } from './usage.ts'

export function geminiAnswerWriter(): AnswerWriter {
  let envelope: JsonObject = {}
  const written = (calls: readonly HeldCall[]) =>
    calls.map(({ json, ...call }) => writePart({ kind: 'tool_call', ...call, input: inputOf(json) }))
  return wholeCallWriter({
    start({ id, model }) {
      envelope = { modelVersion: model, responseId: id }
    },
    piece: (event, calls) => sseFrame(answerBody([...written(calls), writePiece(event)], undefined, undefined, envelope)),
    last: (reason, usage, calls) => sseFrame(answerBody(written(calls), reason, usage, envelope)),
    error: (event) => sseFrame(refusalBody(event, new Date(0))),
  })
}

function writePiece(event: Parameters<WholeCallFormat['piece']>[0]): JsonObject {
  if (event.type === 'thinking_seal') return { text: '', thoughtSignature: sealForClient('gemini', event.seal) }
  return { text: event.text, ...(event.type === 'thinking' ? { thought: true } : {}) }
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
