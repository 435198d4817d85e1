import { createCallOrder } from '../call-order.ts'
import { inputOf } from '../fields.ts'
import { sseFrame } from '../frames.ts'
import type { EndReason, ModelEvent, ModelUsage } from '../model-event.ts'
import type { JsonObject, ModelRequest, Tool } from '../model-request.ts'
import { errorBody } from '../openai/refusal.ts'
import { sealAhead } from '../seal.ts'
import type { AnswerWriter } from '../wire.ts'
import { callItem } from './items.ts'
import { failedOf, finished, messageItem, outputText, responseOf, thoughtItem } from './write-whole.ts'

/** Every item is told in pieces and once more as a whole when it is done: Codex goes by the whole. */
export function answerStream(request: ModelRequest): AnswerWriter {
  const inOrder = createCallOrder()
  const output: JsonObject[] = []
  let envelope = { id: 'resp_gateway', model: request.model }
  let hasStarted = false
  let sequence = 0
  let usage: ModelUsage | undefined
  let reason: EndReason | undefined
  let hasFailed = false
  let open: OpenItem | undefined

  const frame = (type: string, fields: JsonObject) => sseFrame({ type, sequence_number: sequence++, ...fields }, type)
  const response = (status: string) => responseOf(envelope, output, status)
  function start(): string {
    if (hasStarted) return ''
    hasStarted = true
    return (
      frame('response.created', { response: response('in_progress') }) +
      frame('response.in_progress', { response: response('in_progress') })
    )
  }

  function begin(item: OpenItem, shown: JsonObject): string {
    const before = start() + close()
    open = item
    return before + frame('response.output_item.added', { output_index: output.length, item: shown })
  }

  const itemId = (prefix: string) => `${prefix}_${envelope.id}_${output.length}`

  function text(piece: string): string {
    let begun = ''
    if (open?.kind !== 'text') {
      begun = close()
      const id = itemId('msg')
      begun += begin(
        { kind: 'text', id, text: '' },
        { id, type: 'message', status: 'in_progress', role: 'assistant', content: [] },
      )
      begun += frame('response.content_part.added', { ...place(id, 'content_index'), part: outputText('') })
    }
    if (open?.kind !== 'text') return begun
    open.text += piece
    return begun + frame('response.output_text.delta', { ...place(open.id, 'content_index'), delta: piece })
  }

  function thought(piece: string): string {
    let begun = ''
    if (open?.kind !== 'thinking') {
      begun = close()
      const id = itemId('rs')
      begun += begin({ kind: 'thinking', id, text: '' }, { id, type: 'reasoning', summary: [] })
    }
    if (open?.kind !== 'thinking') return begun
    if (piece === '') return begun
    const at = place(open.id, 'summary_index')
    if (open.text === '')
      begun += frame('response.reasoning_summary_part.added', { ...at, part: { type: 'summary_text', text: '' } })
    open.text += piece
    return begun + frame('response.reasoning_summary_text.delta', { ...at, delta: piece })
  }

  const place = (id: string, within: string) => ({ item_id: id, output_index: output.length, [within]: 0 })

  function call(event: Extract<ModelEvent, { type: 'tool_call' }>): string {
    const tool = request.tools.find(({ name }) => name === event.name)
    const before = event.seal === undefined ? close() : close() + thought('') + seal(sealAhead(event.seal))
    const id = itemId(tool?.form === 'text' ? 'ctc' : 'fc')
    const shown = callItem({ kind: 'tool_call', id: event.id, name: event.name, input: {} }, tool, id)
    const blank = shown.type === 'function_call' ? { arguments: '' } : 'input' in shown ? { input: '' } : {}
    return before + begin({ kind: 'call', id, event, tool, json: '' }, { ...shown, ...blank, status: 'in_progress' })
  }

  function seal(sealed: string): string {
    const begun = open?.kind === 'thinking' ? '' : thought('')
    if (open?.kind === 'thinking') open.seal = sealed
    return begun + close()
  }

  function close(): string {
    if (!open) return ''
    const { whole, frames } = done(open)
    open = undefined
    const text = frames + frame('response.output_item.done', { output_index: output.length, item: whole })
    output.push(whole)
    return text
  }

  /** The item as a whole, and what ends its pieces. */
  function done(item: OpenItem): { whole: JsonObject; frames: string } {
    if (item.kind === 'call') return doneCall(item)
    if (item.kind === 'text') {
      const at = place(item.id, 'content_index')
      const texts = frame('response.output_text.done', { ...at, text: item.text })
      const part = frame('response.content_part.done', { ...at, part: outputText(item.text) })
      return { whole: messageItem(item.id, item.text), frames: texts + part }
    }
    const whole = thoughtItem({ kind: 'thinking', text: item.text, seal: item.seal }, item.id)
    if (item.text === '') return { whole, frames: '' }
    const at = place(item.id, 'summary_index')
    const texts = frame('response.reasoning_summary_text.done', { ...at, text: item.text })
    const part = frame('response.reasoning_summary_part.done', { ...at, part: { type: 'summary_text', text: item.text } })
    return { whole, frames: texts + part }
  }

  function doneCall({ id, event, tool, json }: OpenCall): { whole: JsonObject; frames: string } {
    const item = callItem({ kind: 'tool_call', id: event.id, name: event.name, input: inputOf(json) }, tool, id)
    const at = { item_id: id, output_index: output.length }
    if (item.type === 'function_call') {
      // As the model wrote it: what is no JSON is for the client to judge.
      const whole = { ...item, arguments: json === '' ? '{}' : json }
      return { whole, frames: frame('response.function_call_arguments.done', { ...at, arguments: whole.arguments }) }
    }
    if (item.type !== 'custom_tool_call') return { whole: item, frames: '' }
    const delta = frame('response.custom_tool_call_input.delta', { ...at, delta: item.input })
    return { whole: item, frames: delta + frame('response.custom_tool_call_input.done', { ...at, input: item.input }) }
  }

  function put(event: ModelEvent): string {
    switch (event.type) {
      case 'start':
        envelope = { id: event.id, model: event.model }
        return start()
      case 'usage':
        usage = event.usage
        return ''
      case 'text':
        return text(event.text)
      case 'thinking':
        return thought(event.text)
      case 'thinking_seal':
        return seal(event.seal)
      case 'tool_call':
        return call(event)
      case 'tool_input': {
        if (open?.kind !== 'call') return ''
        open.json += event.json
        if (open.tool?.form !== undefined || event.json === '') return ''
        return frame('response.function_call_arguments.delta', {
          item_id: open.id,
          output_index: output.length,
          delta: event.json,
        })
      }
      case 'end':
        reason = event.reason
        return start() + close()
      case 'error':
        hasFailed = true
        return frame('response.failed', failedOf(envelope, errorBody(event)))
    }
  }

  return {
    write(event) {
      let text = ''
      for (const ordered of inOrder(event)) text += put(ordered)
      return text
    },
    end() {
      if (hasFailed || reason === undefined) return ''
      const whole = finished(response('completed'), reason, usage)
      return frame(`response.${whole.status}`, { response: whole })
    },
  }
}

type OpenItem =
  | { readonly kind: 'text'; readonly id: string; text: string }
  | { readonly kind: 'thinking'; readonly id: string; text: string; seal?: string }
  | OpenCall

interface OpenCall {
  readonly kind: 'call'
  readonly id: string
  readonly event: Extract<ModelEvent, { type: 'tool_call' }>
  readonly tool: Tool | undefined
  json: string
}
