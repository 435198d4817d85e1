import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject, sign } from 'node:crypto'

/** The key by which push services know this Pawl: a browser that subscribed with one takes messages from nobody else. */
export interface SenderKey {
  readonly private: KeyObject
  /** As browsers want it: the point itself, in base64url. */
  readonly public: string
}

export function readSenderKey(pem: string): SenderKey {
  const key = createPrivateKey(pem)
  const { x, y } = createPublicKey(key).export({ format: 'jwk' })
  const point = Buffer.concat([Buffer.of(4), Buffer.from(x ?? '', 'base64url'), Buffer.from(y ?? '', 'base64url')])
  return { private: key, public: point.toString('base64url') }
}

export const newSenderKey = (): string =>
  generateKeyPairSync('ec', {
    namedCurve: 'prime256v1',
    privateKeyEncoding: { type: 'pkcs8', format: 'pem' },
    publicKeyEncoding: { type: 'spki', format: 'pem' },
  }).privateKey

/** RFC 8292 allows a day; services with clocks of their own are glad of less. */
const goodForSeconds = 12 * 3_600

/** The header that proves to a push service who sends: a token signed with our key, for this service alone (RFC 8292). */
export function vapidHeader(key: SenderKey, { endpoint, contact, nowMs }: { endpoint: string; contact: string; nowMs: number }) {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = { aud: new URL(endpoint).origin, exp: Math.floor(nowMs / 1_000) + goodForSeconds, sub: contact }
  const said = `${part({ typ: 'JWT', alg: 'ES256' })}.${part(claims)}`
  const signature = sign('sha256', Buffer.from(said), { key: key.private, dsaEncoding: 'ieee-p1363' }).toString('base64url')
  return `vapid t=${said}.${signature}, k=${key.public}`
}
