import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { join } from 'node:path'
import { calculateJwkThumbprint, type JWK } from 'jose'
import { madeOnce } from '../../sandbox/files/made-once.ts'

/** What cards are signed with, and what they are checked with. */
export interface CardKey {
  readonly privateKey: KeyObject
  /** Its public part, with its id and what it is for. */
  readonly publicJwk: JWK & { readonly kid: string }
}

const fileOf = (home: string) => join(home, 'a2a-card-key.pem')

/** Whoever trusts our cards trusts this key. */
export async function ensureCardKey(home: string): Promise<CardKey> {
  const privateKey = createPrivateKey(await madeOnce(fileOf(home), newKey))
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' }) as JWK
  return { privateKey, publicJwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' } }
}

const newKey = () =>
  generateKeyPairSync('ec', { namedCurve: 'P-256' }).privateKey.export({ type: 'pkcs8', format: 'pem' }).toString()
