import { createHmac } from 'node:crypto'

/** The headers that prove where a body came from and when, as Standard Webhooks has them. */
export function signedHeaders(secret: string, message: { id: string; nowMs: number; body: string }): Record<string, string> {
  const timestamp = String(Math.floor(message.nowMs / 1_000))
  const mac = createHmac('sha256', keyOf(secret)).update(`${message.id}.${timestamp}.${message.body}`).digest('base64')
  return { 'webhook-id': message.id, 'webhook-timestamp': timestamp, 'webhook-signature': `v1,${mac}` }
}

/** `whsec_` and base64, as the libraries for it have it; any other text is the key itself. */
function keyOf(secret: string): Buffer {
  const encoded = /^whsec_([A-Za-z0-9+/]+={0,2})$/.exec(secret)?.[1]
  return encoded === undefined ? Buffer.from(secret, 'utf8') : Buffer.from(encoded, 'base64')
}
