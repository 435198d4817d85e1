import {
  createCipheriv,
  createDecipheriv,
  createPrivateKey,
  createPublicKey,
  generateKeyPairSync,
  hkdfSync,
  type KeyObject,
  randomBytes,
  sign,
} from 'node:crypto'
import { join } from 'node:path'
import { PawlError } from '../../../domain/error.ts'
import { madeOnce, readIfThere } from '../../../sandbox/files/made-once.ts'

/**
 * The key of a home by which listeners know who tells them. It also seals what they want to be shown: so only a process that can sign for this home can send, and nobody who
 * reads the database learns a token of somebody else's.
 */
export interface ListenerKey {
  /** The public half as a JSON Web Key. */
  readonly jwk: { readonly kty: 'OKP'; readonly crv: 'Ed25519'; readonly x: string }
  sign(text: string): string
  seal(value: unknown, id: string): Buffer
  unseal(sealed: Buffer, id: string): unknown
}

const fileOf = (home: string) => join(home, 'a2a-push-key.pem')

/** Undefined while nobody has listened yet. */
export async function findListenerKey(home: string): Promise<ListenerKey | undefined> {
  const pem = await readIfThere(fileOf(home))
  return pem === undefined ? undefined : readKey(createPrivateKey(pem))
}

/** With another one, what was sealed could not be opened. */
export const ensureListenerKey = async (home: string): Promise<ListenerKey> =>
  readKey(createPrivateKey(await madeOnce(fileOf(home), newKey)))

const newKey = () => generateKeyPairSync('ed25519').privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()

const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

function readKey(key: KeyObject): ListenerKey {
  const { x = '', d = '' } = key.export({ format: 'jwk' })
  const jwk = { kty: 'OKP', crv: 'Ed25519', x: createPublicKey(key).export({ format: 'jwk' }).x ?? x } as const
  const sealing = Buffer.from(hkdfSync('sha256', Buffer.from(d, 'base64url'), '', 'what listeners are shown', 32))
  return {
    jwk,
    sign: (text) => sign(null, Buffer.from(text), key).toString('base64'),
    seal(value, id) {
      const nonce = randomBytes(nonceBytes)
      const cipher = createCipheriv(algorithm, sealing, nonce).setAAD(Buffer.from(id))
      return Buffer.concat([nonce, cipher.update(JSON.stringify(value), 'utf8'), cipher.final(), cipher.getAuthTag()])
    },
    unseal(sealed, id) {
      const end = sealed.length - tagBytes
      try {
        const decipher = createDecipheriv(algorithm, sealing, sealed.subarray(0, nonceBytes), { authTagLength: tagBytes })
        decipher.setAAD(Buffer.from(id)).setAuthTag(sealed.subarray(end))
        return JSON.parse(decipher.update(sealed.subarray(nonceBytes, end), undefined, 'utf8') + decipher.final('utf8'))
      } catch (error) {
        throw new PawlError('unavailable', `What listener ${id} is to be shown was sealed with another key than this home's.`, {
          cause: error,
        })
      }
    },
  }
}
