import type { Growing, Voice } from '../../domain/event/live-text.ts'

/** A piece of what the agent says or thinks; pieces of one message have one id. */
export interface Chunk {
  readonly kind: Voice
  readonly text: string
  readonly messageId: string
}

/**
 * What is said, sent on while it grows and never twice. What is stored is the truth: the event of a message brings whatever of it was not sent yet, and a message whose
 * growth was not what came of it in the end is sent whole, as another one.
 */
export class GrowingText {
  /** What was sent of a message whose event has not come. */
  #sent: { readonly run: string; readonly n: number; readonly kind: Voice; readonly text: string } | undefined
  #whole = 0
  readonly #prefix: string

  constructor(task: string) {
    this.#prefix = task
  }

  grow(growing: Growing | undefined): Chunk | undefined {
    // Nothing is being said any more: whether that is stored is known when the event comes, or does not.
    if (!growing) return undefined
    const { run, n, kind, text } = growing
    const sent = this.#sent
    const isSame = sent?.run === run && sent.n === n
    // The next message begins before the event of this one is here: its text is told whole every time, so that nothing is missed by waiting.
    if (sent && !isSame) return undefined
    const before = isSame ? sent.text : ''
    if (!text.startsWith(before) || text === before) return undefined
    this.#sent = { run, n, kind, text }
    return { kind, text: text.slice(before.length), messageId: idOf(run, n) }
  }

  /** What is left to send of a message that is stored now. */
  settle(run: string | undefined, kind: Voice, text: string): Chunk | undefined {
    const sent = this.#sent
    if (sent && sent.run === run && sent.kind === kind) {
      this.#sent = undefined
      const rest = restOf(text, sent.text)
      if (rest !== undefined) return rest === '' ? undefined : { kind, text: rest, messageId: idOf(sent.run, sent.n) }
    }
    return { kind, text, messageId: `${this.#prefix}-${++this.#whole}` }
  }

  /** A run is over: what grew in it and was not stored grows no more. */
  end(): void {
    this.#sent = undefined
  }
}

/** What of a text comes after its beginning, around which there may have been more space; undefined if it begins otherwise. */
function restOf(text: string, beginning: string): string | undefined {
  if (text.startsWith(beginning)) return text.slice(beginning.length)
  const [whole, begun] = [text.trimStart(), beginning.trimStart()]
  if (whole.startsWith(begun)) return whole.slice(begun.length)
  return whole.trimEnd() === begun.trimEnd() ? '' : undefined
}

const idOf = (run: string, n: number) => `${run}-${n}`
