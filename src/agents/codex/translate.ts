import { asObject } from '../../domain/base/object.ts'
import type { Turn } from '../port.ts'
import { text } from '../shared/fields.ts'
import { harmless } from '../shared/harmless.ts'
import { createPlan, type Step } from '../shared/plan.ts'
import { clean, createTextKeeper, cut, pieceChars, sendPieces } from '../shared/text.ts'
import { readItem } from './items.ts'

/** Turns what happens in one turn into events, and keeps what was said. */
export interface Translator {
  /** False: not understood. `own` is false for a thing of an agent that the agent started: its words are not our answer. */
  item(value: unknown, state: 'started' | 'completed', own?: boolean): Promise<boolean>
  /** A piece of a message that is not complete yet. */
  delta(itemId: string, piece: string): void
  /** What a tool is doing that has not returned yet. */
  inputOf(callId: string): unknown
  /** What the agent means to do. */
  plan(steps: readonly Step[]): Promise<void>
  retrying(message: string, details?: string): Promise<void>
  compacted(): Promise<void>
  /** The last message; while there is no end yet, all that was said. */
  answer(): string
  soFar(): string
}

export function createTranslator(emit: Turn['emit']): Translator {
  const spoken = createTextKeeper()
  const unfinished = new Map<string, string>()
  const begun = new Map<string, unknown>()
  const plan = createPlan(emit)
  let last = ''
  let final: string | undefined
  let retries = 0
  let compactions = 0

  async function say(message: string, isFinal: boolean): Promise<void> {
    if (message.trim() === '') return
    spoken.add(`${message}\n`)
    last = message
    if (isFinal) final = message
    await sendPieces(message, (piece) => emit({ type: 'agent.message', data: { text: piece } }))
  }
  async function tellCompacted(): Promise<void> {
    compactions++
    await emit({ type: 'agent.compacted', data: { trigger: 'auto' } })
  }

  return {
    async item(value, state, own = true) {
      const item = readItem(value)
      if (!item) return false
      const id = text(asObject(value)?.id) ?? ''
      const isOver = state === 'completed'
      switch (item.kind) {
        case 'message':
          if (!isOver || !own) break
          unfinished.delete(id)
          await say(item.text, item.isFinal)
          break
        case 'thinking':
          if (isOver && item.text.trim() !== '') {
            await sendPieces(item.text, (piece) => emit({ type: 'agent.thinking', data: { text: piece } }))
          }
          break
        case 'plan':
          if (own) await plan(item.steps)
          break
        case 'compaction':
          if (isOver && own) await tellCompacted()
          break
        case 'tool': {
          const { callId, tool, input, output, isError } = item.call
          // Some are told of only when they are over.
          if (!begun.has(callId)) {
            begun.set(callId, input)
            await emit({ type: 'agent.tool_called', data: { callId, tool, input: harmless(input) } })
          }
          if (isOver) {
            begun.delete(callId)
            await emit({ type: 'agent.tool_returned', data: { callId, output, isError } })
          }
        }
      }
      return true
    },
    inputOf: (callId) => begun.get(callId),
    delta(itemId, piece) {
      const before = unfinished.get(itemId) ?? ''
      if (before.length < pieceChars) unfinished.set(itemId, before + clean(piece))
    },
    plan,
    async retrying(message, details) {
      const [, attempt, of] = /(\d{1,9})\/(\d{1,9})/.exec(message) ?? []
      retries++
      const detail = cut(details ? `${message} (${details})` : message, 1000)
      await emit({
        type: 'agent.retrying',
        data: attempt && of ? { attempt: Number(attempt), of: Number(of), detail } : { attempt: retries, detail },
      })
    },
    async compacted() {
      // Versions tell of it by an item, by a notification, or by both.
      if (compactions === 0) await tellCompacted()
    },
    answer: () => shortened(final ?? last).trim(),
    soFar: () =>
      [spoken.text().trimEnd(), ...unfinished.values()]
        .filter((part) => part !== '')
        .join('\n')
        .trim(),
  }
}

function shortened(message: string): string {
  const keeper = createTextKeeper()
  keeper.add(message)
  return keeper.text()
}
