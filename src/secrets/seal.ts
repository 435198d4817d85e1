import { createCipheriv, createDecipheriv, createHmac, randomBytes } from 'node:crypto'
import { PawlError } from '../domain/error.ts'
import type { Sealed, SealedSecret, SecretId } from '../store/secrets.ts'

export const keyBytes = 32
const algorithm = 'aes-256-gcm'
const nonceBytes = 12
const tagBytes = 16

/** Tells two keys apart and says nothing about either. */
export const fingerprintOf = (key: Buffer): string =>
  createHmac('sha256', key).update('fingerprint of a secret key').digest('hex').slice(0, 16)

/** Encrypts a value for exactly this secret in this version: nowhere else can it be opened. */
export function seal(value: string, id: SecretId, key: Buffer): Sealed {
  const nonce = randomBytes(nonceBytes)
  const cipher = createCipheriv(algorithm, key, nonce).setAAD(identityOf(id))
  const sealed = Buffer.concat([cipher.update(value, 'utf8'), cipher.final(), cipher.getAuthTag()])
  return { nonce, sealed, fingerprint: fingerprintOf(key) }
}

export function unseal(secret: SealedSecret, key: Buffer): string {
  const { nonce, sealed, scope, name } = secret
  const end = sealed.length - tagBytes
  try {
    const decipher = createDecipheriv(algorithm, key, nonce, { authTagLength: tagBytes })
    decipher.setAAD(identityOf(secret)).setAuthTag(sealed.subarray(end))
    return decipher.update(sealed.subarray(0, end), undefined, 'utf8') + decipher.final('utf8')
  } catch (error) {
    throw new PawlError(
      'unavailable',
      `The secret "${name}" (${scope}) is not as it was stored: its row in the database was damaged or exchanged. Set it again: pawl secret set ${name}`,
      { cause: error },
    )
  }
}

const identityOf = ({ scope, name, version }: SecretId) => Buffer.from(JSON.stringify([scope, name, version]))
