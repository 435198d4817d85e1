import type { OutgoingMessage } from 'node:http'
import type { Socket } from 'node:net'

/** Ends a message with its whole body. Node writes head and body in one piece only if the body is text; each byte is one sign of Latin-1, so nothing changes. */
export function endWith(message: OutgoingMessage, body: Buffer): void {
  if (body.length <= maxTextBytes) message.end(body.toString('latin1'), 'latin1')
  else message.end(body)
}

/** The same for a head that we wrote ourselves. */
export function writeWith(socket: Socket, head: string, body: Buffer | undefined): void {
  if (!body || body.length <= maxTextBytes) {
    socket.write(head + (body?.toString('latin1') ?? ''), 'latin1')
    return
  }
  socket.cork()
  socket.write(head, 'latin1')
  socket.write(body)
  socket.uncork()
}

const maxTextBytes = 16 * 1024
