import { createCipheriv, createECDH, hkdfSync, randomBytes } from 'node:crypto'

/** A browser, as it described itself; both in base64url. */
export interface Recipient {
  readonly p256dh: string
  readonly auth: string
}

const recordSize = 4_096
/** A record holds the text, the mark that it is the last one, and the tag of the cipher. */
export const mostPushBytes = recordSize - 17

/**
 * Encrypts a message so that only the browser can read it, as RFC 8291 says: a key that both sides derive from a new key pair of ours and the browser's own, and one
 * record of `aes128gcm` (RFC 8188) whose header tells the browser the salt and our half.
 */
export function encryptPush(text: string, to: Recipient, chance = { salt: randomBytes(16), pair: newPair() }): Buffer {
  const plain = Buffer.from(text)
  if (plain.length > mostPushBytes) throw new RangeError(`a push message has at most ${mostPushBytes} bytes`)
  const { salt, pair } = chance
  const theirs = Buffer.from(to.p256dh, 'base64url')
  const ours = pair.getPublicKey()
  const shared = pair.computeSecret(theirs)
  const info = Buffer.concat([Buffer.from('WebPush: info\0'), theirs, ours])
  const material = hkdf(shared, Buffer.from(to.auth, 'base64url'), info, 32)
  const key = hkdf(material, salt, Buffer.from('Content-Encoding: aes128gcm\0'), 16)
  const nonce = hkdf(material, salt, Buffer.from('Content-Encoding: nonce\0'), 12)
  const cipher = createCipheriv('aes-128-gcm', key, nonce)
  const lastRecord = Buffer.of(2)
  const sealed = Buffer.concat([cipher.update(plain), cipher.update(lastRecord), cipher.final(), cipher.getAuthTag()])
  const size = Buffer.alloc(4)
  size.writeUInt32BE(recordSize)
  return Buffer.concat([salt, size, Buffer.of(ours.length), ours, sealed])
}

function newPair() {
  const pair = createECDH('prime256v1')
  pair.generateKeys()
  return pair
}

const hkdf = (material: Uint8Array, salt: Uint8Array, info: Uint8Array, bytes: number) =>
  Buffer.from(hkdfSync('sha256', material, salt, info, bytes))
