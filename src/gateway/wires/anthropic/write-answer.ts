import { createCallOrder } from '../call-order.ts'
import { sseFrame } from '../frames.ts'
import type { EndReason, ModelAnswer, ModelEvent, ModelUsage } from '../model-event.ts'
import type { JsonObject, ModelRequest } from '../model-request.ts'
import { sealAhead, sealForClient } from '../seal.ts'
import type { AnswerWriter } from '../wire.ts'
import { redactedMark } from './read-request.ts'
import { refusalBody } from './refusal.ts'
import { usageFields } from './usage.ts'
import { answerBlocks } from './write-request.ts'

export function answerStream(request: ModelRequest): AnswerWriter {
  const inOrder = createCallOrder()
  let usage: ModelUsage | undefined
  let hasStarted = false
  let index = -1
  let open: 'text' | 'thinking' | 'call' | undefined
  let reason: EndReason | undefined
  let hasFailed = false

  const frame = (type: string, fields: JsonObject) => sseFrame({ type, ...fields }, type)
  const start = (id: string, model: string) => {
    if (hasStarted) return ''
    hasStarted = true
    const message = { id, type: 'message', role: 'assistant', model, content: [], stop_reason: null, stop_sequence: null }
    return frame('message_start', { message: { ...message, usage: usageFields(usage) } })
  }
  const begin = (kind: NonNullable<typeof open>, block: JsonObject) => {
    const before = start('msg_gateway', request.model) + close()
    open = kind
    index += 1
    return before + frame('content_block_start', { index, content_block: block })
  }
  const delta = (fields: JsonObject) => frame('content_block_delta', { index, delta: fields })
  const close = () => {
    if (open === undefined) return ''
    open = undefined
    return frame('content_block_stop', { index })
  }
  const thought = (seal: string) =>
    begin('thinking', { type: 'thinking', thinking: '', signature: '' }) +
    delta({ type: 'signature_delta', signature: seal }) +
    close()

  function put(event: ModelEvent): string {
    switch (event.type) {
      case 'start':
        return start(event.id, event.model)
      case 'usage':
        usage = event.usage
        return ''
      case 'text':
        return (
          (open === 'text' ? '' : begin('text', { type: 'text', text: '' })) + delta({ type: 'text_delta', text: event.text })
        )
      case 'thinking': {
        const begun = open === 'thinking' ? '' : begin('thinking', { type: 'thinking', thinking: '', signature: '' })
        return begun + delta({ type: 'thinking_delta', thinking: event.text })
      }
      case 'thinking_seal': {
        const seal = sealForClient('anthropic', event.seal)
        if (open === 'thinking') return delta({ type: 'signature_delta', signature: seal }) + close()
        if (!seal.startsWith(redactedMark)) return thought(seal)
        return begin('text', { type: 'redacted_thinking', data: seal.slice(redactedMark.length) }) + close()
      }
      case 'tool_call': {
        const ahead = event.seal === undefined ? '' : thought(sealForClient('anthropic', sealAhead(event.seal)))
        return ahead + begin('call', { type: 'tool_use', id: event.id, name: event.name, input: {} })
      }
      case 'tool_input':
        return event.json === '' ? '' : delta({ type: 'input_json_delta', partial_json: event.json })
      case 'end':
        reason = event.reason
        return close()
      case 'error':
        hasFailed = true
        return sseFrame(refusalBody(event), 'error')
    }
  }

  return {
    write(event) {
      let text = ''
      for (const ordered of inOrder(event)) text += put(ordered)
      return text
    },
    /** The end waits for the usage, which other formats tell last. */
    end() {
      if (hasFailed || reason === undefined) return ''
      const ending = { delta: { stop_reason: stopReasons[reason], stop_sequence: null }, usage: usageFields(usage) }
      return start('msg_gateway', request.model) + frame('message_delta', ending) + frame('message_stop', {})
    },
  }
}

const stopReasons = {
  end: 'end_turn',
  max_tokens: 'max_tokens',
  tool_calls: 'tool_use',
  stop_sequence: 'stop_sequence',
  refused: 'refusal',
  paused: 'pause_turn',
} as const satisfies Record<EndReason, string>

export const answerWhole = (answer: ModelAnswer): JsonObject => ({
  id: answer.id,
  type: 'message',
  role: 'assistant',
  model: answer.model,
  content: answer.parts.flatMap(answerBlocks),
  stop_reason: stopReasons[answer.reason],
  stop_sequence: null,
  usage: usageFields(answer.usage),
})
