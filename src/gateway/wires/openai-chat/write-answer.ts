import { present } from '../fields.ts'
import { sseFrame } from '../frames.ts'
import type { EndReason, ModelAnswer, ModelEvent, ModelUsage } from '../model-event.ts'
import type { JsonObject, ModelRequest } from '../model-request.ts'
import { errorBody } from '../openai/refusal.ts'
import { allInput, inputDetails } from '../openai/usage.ts'
import { sealForClient } from '../seal.ts'
import type { AnswerWriter } from '../wire.ts'
import { callFields, detailsOf } from './write-request.ts'

export function answerStream(request: ModelRequest): AnswerWriter {
  let envelope = envelopeOf('chatcmpl-gateway', request.model, 'chat.completion.chunk')
  let usage: ModelUsage | undefined
  let reason: EndReason | undefined
  let hasFailed = false
  let isFirst = true

  const chunk = (delta: JsonObject, finish: string | null = null) => {
    const role = isFirst ? { role: 'assistant', content: '' } : {}
    isFirst = false
    return sseFrame({ ...envelope, choices: [{ index: 0, delta: { ...role, ...delta }, finish_reason: finish }] })
  }

  return {
    write(event: ModelEvent) {
      switch (event.type) {
        case 'start':
          envelope = envelopeOf(event.id, event.model, 'chat.completion.chunk')
          return chunk({})
        case 'text':
          return chunk({ content: event.text })
        case 'thinking':
          return chunk({ reasoning_content: event.text })
        case 'thinking_seal':
          return chunk({ reasoning_details: detailsOf(event.seal) })
        case 'tool_call': {
          const { index, id, name, seal } = event
          return chunk({
            tool_calls: [{ index, id, type: 'function', function: { name, arguments: '' }, ...callSealFields(seal) }],
          })
        }
        case 'tool_input':
          return chunk({ tool_calls: [{ index: event.index, function: { arguments: event.json } }] })
        case 'usage':
          usage = event.usage
          return ''
        case 'end':
          reason = event.reason
          return ''
        case 'error':
          hasFailed = true
          return sseFrame({ error: errorBody(event) })
      }
    },
    end() {
      if (hasFailed || reason === undefined) return ''
      const counted =
        usage && request.wantsUsage !== false ? sseFrame({ ...envelope, choices: [], usage: usageFields(usage) }) : ''
      return `${chunk({}, finishReasons[reason])}${counted}data: [DONE]\n\n`
    },
  }
}

const callSealFields = (seal: string | undefined) =>
  seal === undefined ? {} : { extra_content: { google: { thought_signature: sealForClient('openai-chat', seal) } } }

/** Fixed, because nothing depends on it and answers can be compared. */
const created = 1_735_689_600
const envelopeOf = (id: string, model: string, object: string) => ({ id, object, created, model })

const finishReasons = {
  end: 'stop',
  max_tokens: 'length',
  tool_calls: 'tool_calls',
  stop_sequence: 'stop',
  refused: 'content_filter',
  paused: 'stop',
} as const satisfies Record<EndReason, string>

export function answerWhole(answer: ModelAnswer): JsonObject {
  const text = answer.parts.map((part) => (part.kind === 'text' ? part.text : '')).join('')
  const thoughts = answer.parts.filter((part) => part.kind === 'thinking')
  const reasoning = thoughts.map((part) => part.text).join('')
  const calls = answer.parts.filter((part) => part.kind === 'tool_call')
  const message = present({
    role: 'assistant',
    content: text === '' ? null : text,
    reasoning_content: reasoning === '' ? undefined : reasoning,
    reasoning_details: detailsOf(thoughts.findLast(({ seal }) => seal !== undefined)?.seal),
    tool_calls: calls.length > 0 ? calls.map((call) => ({ ...callFields(call), ...callSealFields(call.seal) })) : undefined,
  })
  return present({
    ...envelopeOf(answer.id, answer.model, 'chat.completion'),
    choices: [{ index: 0, message, finish_reason: finishReasons[answer.reason], logprobs: null }],
    usage: answer.usage && usageFields(answer.usage),
  })
}

const usageFields = (usage: ModelUsage) => ({
  prompt_tokens: allInput(usage),
  completion_tokens: usage.outputTokens,
  total_tokens: allInput(usage) + usage.outputTokens,
  prompt_tokens_details: inputDetails(usage),
  completion_tokens_details: { reasoning_tokens: usage.reasoningTokens },
})
