import type { Turn } from '../port.ts'
import { cut, pieceChars } from './text.ts'

export interface UnknownLines {
  add(line: string): Promise<void>
  /** Must be called before the next event of another kind, and when nothing more is at hand. */
  flush(): Promise<void>
}

/** Passes on what was not understood. Lines that arrive together are one event, so that a flood of garbage is not a flood of events. */
export function createUnknownLines(turn: Turn): UnknownLines {
  let held = ''
  async function flush(): Promise<void> {
    const raw = held
    held = ''
    if (raw !== '') await turn.emit({ type: 'agent.unknown', data: { raw } })
  }
  return {
    flush,
    async add(line) {
      const raw = cut(line, pieceChars)
      if (held.length + raw.length >= pieceChars) await flush()
      held = held === '' ? raw : `${held}\n${raw}`
    },
  }
}
