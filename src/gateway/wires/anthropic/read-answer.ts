import { fieldsOf } from '../../../domain/base/object.ts'
import { inputOf, objectsOf, parsedObject, present, textOf } from '../fields.ts'
import type { EndReason, ModelAnswer, ModelEvent } from '../model-event.ts'
import type { JsonObject, Part } from '../model-request.ts'
import { brokenOff, gaveUp, noJson } from '../refusals.ts'
import { markedSeal, sealOfNextCall } from '../seal.ts'
import { createTurns } from '../turns.ts'
import type { AnswerReader } from '../wire.ts'
import { redactedMark } from './read-request.ts'
import { kindOf } from './refusal.ts'
import { merged, usageOf } from './usage.ts'

export function answerReader(): AnswerReader {
  let usage: JsonObject = {}
  let reason: EndReason | undefined
  let hasEnded = false
  let seal = ''
  let sealAhead: string | undefined
  let block: 'thinking' | 'other' | 'call' | undefined
  let call = -1
  let callHasInput = false
  let toldInput = true

  function started(content: JsonObject): ModelEvent[] {
    seal = ''
    callHasInput = false
    block = 'other'
    switch (content.type) {
      case 'text':
        return content.text ? [{ type: 'text', text: textOf(content.text) ?? '' }] : []
      case 'thinking':
        block = 'thinking'
        seal = textOf(content.signature) ?? ''
        return content.thinking ? [{ type: 'thinking', text: textOf(content.thinking) ?? '' }] : []
      case 'redacted_thinking':
        return [{ type: 'thinking_seal', seal: markedSeal('anthropic', `${redactedMark}${textOf(content.data) ?? ''}`) }]
      case 'tool_use': {
        block = 'call'
        call += 1
        const ahead = sealAhead
        sealAhead = undefined
        const begun: ModelEvent = {
          type: 'tool_call',
          index: call,
          id: textOf(content.id) ?? '',
          name: textOf(content.name) ?? '',
          ...(ahead !== undefined && { seal: ahead }),
        }
        const input = fieldsOf(content.input)
        if (Object.keys(input).length === 0) return [begun]
        callHasInput = true
        return [begun, { type: 'tool_input', index: call, json: JSON.stringify(input) }]
      }
      default:
        return []
    }
  }

  /** With the first piece of the answer it is certain that the input is paid for, even if no end should come. */
  function inputTold(): ModelEvent[] {
    if (toldInput) return []
    toldInput = true
    return [{ type: 'usage', usage: usageOf(usage) }]
  }

  function filled(delta: JsonObject): ModelEvent[] {
    switch (delta.type) {
      case 'text_delta':
        return delta.text ? [{ type: 'text', text: textOf(delta.text) ?? '' }] : []
      case 'thinking_delta':
        return delta.thinking ? [{ type: 'thinking', text: textOf(delta.thinking) ?? '' }] : []
      case 'signature_delta':
        seal += textOf(delta.signature) ?? ''
        return []
      case 'input_json_delta': {
        const json = textOf(delta.partial_json) ?? ''
        if (json === '' || block !== 'call') return []
        callHasInput = true
        return [{ type: 'tool_input', index: call, json }]
      }
      default:
        return []
    }
  }

  function stopped(): ModelEvent[] {
    const was = block
    block = undefined
    if (was === 'call' && !callHasInput) return [{ type: 'tool_input', index: call, json: '{}' }]
    if (was !== 'thinking' || seal === '') return []
    const whole = markedSeal('anthropic', seal)
    sealAhead = sealOfNextCall(whole)
    return sealAhead === undefined ? [{ type: 'thinking_seal', seal: whole }] : []
  }

  return {
    read({ data }) {
      const body = parsedObject(data)
      if (!body) return [noJson]
      switch (body.type) {
        case 'message_start': {
          const message = fieldsOf(body.message)
          usage = merged(usage, fieldsOf(message.usage))
          toldInput = Object.keys(usage).length === 0
          return [{ type: 'start', id: textOf(message.id) ?? '', model: textOf(message.model) ?? '' }]
        }
        case 'content_block_start':
          return [...inputTold(), ...started(fieldsOf(body.content_block))]
        case 'content_block_delta':
          return filled(fieldsOf(body.delta))
        case 'content_block_stop':
          return stopped()
        case 'message_delta':
          usage = merged(usage, fieldsOf(body.usage))
          reason = reasonOf(fieldsOf(body.delta).stop_reason) ?? reason
          return []
        case 'message_stop':
          hasEnded = true
          return [
            ...(Object.keys(usage).length > 0 ? [{ type: 'usage', usage: usageOf(usage) } as const] : []),
            { type: 'end', reason: reason ?? 'end' },
          ]
        case 'error': {
          hasEnded = true
          const error = fieldsOf(body.error)
          const message = textOf(error.message) ?? 'The provider gave up.'
          return [{ type: 'error', kind: kindOf(undefined, textOf(error.type), message), message }]
        }
        default:
          return []
      }
    },
    end: () => (hasEnded ? [] : [brokenOff]),
  }
}

const reasons: Readonly<Record<string, EndReason>> = {
  end_turn: 'end',
  max_tokens: 'max_tokens',
  model_context_window_exceeded: 'max_tokens',
  tool_use: 'tool_calls',
  stop_sequence: 'stop_sequence',
  refusal: 'refused',
  pause_turn: 'paused',
}
const reasonOf = (reason: unknown): EndReason | undefined => {
  const word = textOf(reason)
  return word === undefined ? undefined : Object.hasOwn(reasons, word) ? reasons[word] : 'end'
}

export function readWhole(body: JsonObject): ModelAnswer {
  if (body.type === 'error') throw gaveUp(body.error)
  const turns = createTurns()
  turns.add('assistant', objectsOf(body.content).flatMap(partOf))
  return present({
    id: textOf(body.id) ?? '',
    model: textOf(body.model) ?? '',
    parts: turns.messages()[0]?.parts ?? [],
    reason: reasonOf(body.stop_reason) ?? 'end',
    usage: body.usage === undefined ? undefined : usageOf(fieldsOf(body.usage)),
  })
}

/** What the provider's own tools did is its own affair; only what it says is read. */
function partOf(block: JsonObject): Part[] {
  const seal = textOf(block.signature)
  switch (block.type) {
    case 'text':
      return [{ kind: 'text', text: textOf(block.text) ?? '' }]
    case 'thinking':
      return [
        present({ kind: 'thinking', text: textOf(block.thinking) ?? '', seal: seal ? markedSeal('anthropic', seal) : undefined }),
      ]
    case 'redacted_thinking':
      return [{ kind: 'thinking', text: '', seal: markedSeal('anthropic', `${redactedMark}${textOf(block.data) ?? ''}`) }]
    case 'tool_use': {
      const input = typeof block.input === 'string' ? inputOf(block.input) : fieldsOf(block.input)
      return [{ kind: 'tool_call', id: textOf(block.id) ?? '', name: textOf(block.name) ?? '', input }]
    }
    default:
      return []
  }
}
