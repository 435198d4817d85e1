import type { Hearing } from './chat.ts'
import type { Said } from './turn.ts'

/** A model may write for many minutes: what it has said so far is told now and then, in whole lines. */
const tellEveryMs = 5_000
const longLine = 1_000
/** Whoever watches sees it grow; more often nobody could read. */
const growEveryMs = 100

/** Passes on what a model says, its thoughts apart. */
export function createSpeech(say: (said: Said) => void): Hearing & { end(): void; readonly spoken: string } {
  let held = ''
  let kind: 'text' | 'thinking' = 'text'
  let spoken = ''
  let toldAt = Date.now()
  let grown = 0
  let grewAt = 0

  function tell(upTo: number): void {
    const text = held.slice(0, upTo)
    held = held.slice(upTo)
    toldAt = Date.now()
    grown = 0
    if (text.trim() !== '') say({ type: kind, text: text.replace(/\n+$/, '') })
  }
  function add(of: typeof kind, piece: string): void {
    if (of !== kind) tell(held.length)
    kind = of
    held += piece
    const now = Date.now()
    if (now - grewAt >= growEveryMs) {
      say({ type: 'piece', voice: kind === 'text' ? 'message' : 'thinking', text: held.slice(grown) })
      grewAt = now
      grown = held.length
    }
    if (now - toldAt < tellEveryMs) return
    const lines = held.lastIndexOf('\n') + 1
    if (lines > 0 || held.length > longLine) tell(lines || held.length)
  }
  return {
    text(piece) {
      spoken += piece
      add('text', piece)
    },
    thinking: (piece) => add('thinking', piece),
    end: () => tell(held.length),
    get spoken() {
      return spoken
    },
  }
}
