import type { ServerResponse } from 'node:http'
import { type Growing, pieceOf } from '../../domain/event/live-text.ts'

/**
 * Sends a reader what the agent is saying, as messages of their own name and without an id: where a reader goes on after a cut is told by events alone. A reader
 * that does not take them misses some and is sent the difference later.
 */
export function partialWriter(response: ServerResponse, isBusy: () => boolean) {
  let sent: Growing | undefined
  let now: Growing | undefined
  const catchUp = () => {
    if (response.destroyed || response.writableNeedDrain || isBusy()) return
    const piece = pieceOf(sent, now)
    sent = now
    if (piece) response.write(`event: partial\ndata: ${JSON.stringify(piece)}\n\n`)
  }
  return {
    tell(growing: Growing | undefined): void {
      now = growing
      catchUp()
    },
    catchUp,
  }
}
