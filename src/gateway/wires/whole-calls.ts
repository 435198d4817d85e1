import type { EndReason, ModelEvent, ModelUsage } from './model-event.ts'
import type { AnswerWriter } from './wire.ts'

export type HeldCall = Extract<ModelEvent, { type: 'tool_call' }> & { json: string }

/** How a format writes what it can write at once. */
export interface WholeCallFormat {
  start(event: Extract<ModelEvent, { type: 'start' }>): void
  /** A piece of what is said or thought, behind the calls that were held back. */
  piece(event: Extract<ModelEvent, { type: 'text' | 'thinking' | 'thinking_seal' }>, calls: readonly HeldCall[]): string
  /** The last frame, with what was held back. */
  last(reason: EndReason, usage: ModelUsage | undefined, calls: readonly HeldCall[]): string
  error(event: Extract<ModelEvent, { type: 'error' }>): string
}

/** For formats whose calls come in one piece, so that they wait for the end of their input, and whose last frame tells the usage. */
export function wholeCallWriter(format: WholeCallFormat): AnswerWriter {
  let usage: ModelUsage | undefined
  let reason: EndReason | undefined
  let isClosed = false
  let calls = new Map<number, HeldCall>()
  const held = () => {
    const all = [...calls.values()]
    if (all.length > 0) calls = new Map()
    return all
  }
  return {
    write(event) {
      switch (event.type) {
        case 'start':
          format.start(event)
          return ''
        case 'text':
        case 'thinking':
        case 'thinking_seal':
          return format.piece(event, held())
        case 'tool_call':
          calls.set(event.index, { ...event, json: '' })
          return ''
        case 'tool_input': {
          const open = calls.get(event.index)
          if (open) open.json += event.json
          return ''
        }
        case 'usage':
          usage = event.usage
          return ''
        case 'end':
          reason = event.reason
          return ''
        case 'error':
          isClosed = true
          return format.error(event)
      }
    },
    end() {
      if (isClosed || reason === undefined) return ''
      isClosed = true
      return format.last(reason, usage, held())
    },
  }
}
