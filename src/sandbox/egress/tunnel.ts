import type { Socket } from 'node:net'

/** One side has said its last word; the other has this long to say something more. */
const partingMs = 60_000

/** Joins two connections until both have ended, one breaks, or nothing moves between them for too long. */
export function tunnel(client: Socket, upstream: Socket, idleMs: number): void {
  const joined = [
    [client, upstream],
    [upstream, client],
  ] as const
  const cut = () => {
    for (const [socket] of joined) socket.destroy()
  }
  // It may have gone away while the other was called.
  if (client.destroyed) cut()
  for (const [socket, other] of joined) {
    socket.on('error', cut).once('close', () => other.destroySoon())
    socket.setTimeout(idleMs, cut)
    socket.once('end', () => socket.setTimeout(Math.min(partingMs, idleMs)))
    socket.pipe(other)
  }
}
