import type { Event } from './event.ts'

export const voices = ['message', 'thinking'] as const
export type Voice = (typeof voices)[number]

/** What the agent of a run is saying just now, as far as it has got. Nobody stores it: the whole comes as an event. */
export interface Growing {
  readonly run: string
  /** Counts what the run says; a higher one takes the place of this. */
  readonly n: number
  readonly kind: Voice
  readonly text: string
}

/** One step of it, as it is sent: what it is from a place on. No text at place 0: nothing is being said any more. */
export interface GrowingPiece extends Growing {
  readonly at: number
}

/** What somebody must be told who was told `before`. Undefined: nothing new. */
export function pieceOf(before: Growing | undefined, now: Growing | undefined): GrowingPiece | undefined {
  if (!now) return before && before.text !== '' ? { ...before, at: 0, text: '' } : undefined
  const { run, n, kind, text } = now
  const known = before && before.run === run && before.n === n ? before.text : ''
  if (known === text) return undefined
  const at = sharedLength(known, text)
  return { run, n, kind, at, text: text.slice(at) }
}

/** What is being said after such a piece. */
export function grownBy(before: Growing | undefined, { at, text, ...piece }: GrowingPiece): Growing | undefined {
  if (at === 0) return text === '' ? undefined : { ...piece, text }
  // One that belongs to something we have not heard the beginning of: the whole will come.
  if (!before || before.run !== piece.run || before.n !== piece.n || at > before.text.length) return before
  return { ...piece, text: before.text.slice(0, at) + text }
}

/** Whether this event tells the whole of it, or that its run is over. It may be an old one, read again. */
export function isEndedBy(growing: Growing, event: Event): boolean {
  if (event.type === 'agent.message' || event.type === 'agent.thinking')
    return (
      event.run === growing.run &&
      event.type === `agent.${growing.kind}` &&
      event.data.text.trim().startsWith(growing.text.trim())
    )
  return event.type === 'run.ended' && event.run === growing.run
}

function sharedLength(a: string, b: string): number {
  // Nearly always the one grows out of the other.
  if (b.startsWith(a)) return a.length
  let at = 0
  while (at < a.length && a[at] === b[at]) at++
  return at
}
