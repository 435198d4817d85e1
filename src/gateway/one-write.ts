import type { OutgoingMessage } from 'node:http'

/** Ends a message with its whole body. Node writes head and body in one piece only if the body is text; each byte is one sign of Latin-1, so nothing changes. */
export function endWith(message: OutgoingMessage, body: Buffer | undefined): void {
  if (body && body.length <= maxTextBytes) message.end(body.toString('latin1'), 'latin1')
  else message.end(body)
}

const maxTextBytes = 16 * 1024
