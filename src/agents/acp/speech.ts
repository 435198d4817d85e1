import type { Turn } from '../port.ts'
import { clean, createTextKeeper, pieceChars, sendPieces, type TextKeeper } from '../shared/text.ts'

export type Voice = 'agent.message' | 'agent.thinking'

/** What is said in pieces, told in whole messages. */
export interface Speech {
  /** One piece; of another message, if its voice or its id is another. */
  say(voice: Voice, id: string | undefined, piece: string): Promise<void>
  /** Whatever is of another kind ends the message that is being said. */
  complete(): Promise<void>
  /** What was said so far is not the answer. */
  notAnswered(): void
  /** What is said from here on is why the turn has failed. */
  fails(): void
  failure(): string | undefined
  answer(): string
  soFar(): string
}

export function createSpeech({ emit, grow }: Pick<Turn, 'emit' | 'grow'>, flush: () => Promise<void>): Speech {
  const spoken = createTextKeeper()
  let last = createTextKeeper()
  let failure: TextKeeper | undefined
  let current: { readonly voice: Voice; readonly id: string | undefined; held: string } | undefined
  let isNewMessage = true

  function keep(piece: string): void {
    if (isNewMessage) last = createTextKeeper()
    isNewMessage = false
    last.add(piece)
    spoken.add(piece)
    failure?.add(piece)
  }
  async function send(): Promise<void> {
    if (!current) return
    const { voice, held } = current
    current.held = ''
    await flush()
    await sendPieces(held, (piece) => emit({ type: voice, data: { text: piece } }))
  }
  async function complete(): Promise<void> {
    await send()
    if (current?.voice === 'agent.message') {
      isNewMessage = true
      spoken.add('\n')
    }
    current = undefined
  }

  return {
    complete,
    async say(voice, id, piece) {
      if (piece === '') return
      if (current && (current.voice !== voice || current.id !== id)) await complete()
      current ??= { voice, id, held: '' }
      current.held += piece
      if (voice === 'agent.message') keep(piece)
      grow?.(voice === 'agent.message' ? 'message' : 'thinking', clean(piece))
      if (current.held.length >= pieceChars) await send()
    },
    notAnswered() {
      last = createTextKeeper()
      isNewMessage = true
    },
    fails() {
      failure = createTextKeeper(16_384)
    },
    failure: () => failure?.text().trim(),
    answer: () => last.text().trim(),
    soFar: () => spoken.text().trim(),
  }
}
