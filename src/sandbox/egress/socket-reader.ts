import type { Socket } from 'node:net'
import { invalid } from '../../domain/error.ts'

/** Takes the first bytes of a connection piece by piece; what comes behind them stays in it. */
export interface SocketReader {
  take(count: number): Promise<Buffer>
  /** Without the zero. */
  takeUntilZero(most: number): Promise<Buffer>
  /** Gives what was read too much back to the connection. */
  release(): void
}

export function readerOf(socket: Socket): SocketReader {
  let held: Buffer = Buffer.alloc(0)

  async function more(): Promise<void> {
    const chunk = await nextChunk(socket)
    held = held.length === 0 ? chunk : Buffer.concat([held, chunk])
  }
  function cut(count: number): Buffer {
    const taken = held.subarray(0, count)
    held = held.subarray(count)
    return taken
  }
  return {
    async take(count) {
      while (held.length < count) await more()
      return cut(count)
    },
    async takeUntilZero(most) {
      for (;;) {
        const end = held.indexOf(0)
        if (end > most || (end === -1 && held.length > most)) throw invalid('A field of the handshake is too long.')
        if (end === -1) await more()
        else return cut(end + 1).subarray(0, end)
      }
    },
    release() {
      if (held.length > 0) socket.unshift(held)
      held = Buffer.alloc(0)
    },
  }
}

/** The connection is paused before and after. Rejects if it ends first. */
export function nextChunk(socket: Socket): Promise<Buffer> {
  return new Promise((resolve, reject) => {
    const settle = (finish: () => void) => {
      socket.pause()
      socket.off('data', onData).off('end', onEnd).off('close', onEnd).off('error', onEnd)
      finish()
    }
    const onData = (chunk: Buffer) => settle(() => resolve(chunk))
    const onEnd = () => settle(() => reject(invalid('The connection ended before it said what it wants.')))
    socket.on('data', onData).on('end', onEnd).on('close', onEnd).on('error', onEnd)
    if (socket.destroyed || socket.readableEnded) onEnd()
    else socket.resume()
  })
}
