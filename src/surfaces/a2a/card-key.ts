import { createPrivateKey, createPublicKey, generateKeyPairSync, type KeyObject } from 'node:crypto'
import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { calculateJwkThumbprint, type JWK } from 'jose'

/** What cards are signed with, and what they are checked with. */
export interface CardKey {
  readonly privateKey: KeyObject
  /** Its public part, with its id and what it is for. */
  readonly publicJwk: JWK & { readonly kid: string }
}

const fileOf = (home: string) => join(home, 'a2a-card-key.pem')

/** Made once and kept: whoever trusts our cards trusts this key. Of two processes that make it at the same moment one wins. */
export async function ensureCardKey(home: string): Promise<CardKey> {
  const pem = (await find(home)) ?? (await make(home))
  const privateKey = createPrivateKey(pem)
  const jwk = createPublicKey(privateKey).export({ format: 'jwk' }) as JWK
  return { privateKey, publicJwk: { ...jwk, kid: await calculateJwkThumbprint(jwk), alg: 'ES256', use: 'sig' } }
}

async function make(home: string): Promise<string> {
  const { privateKey } = generateKeyPairSync('ec', { namedCurve: 'P-256' })
  const draft = `${fileOf(home)}.${process.pid}`
  await writeFile(draft, privateKey.export({ type: 'pkcs8', format: 'pem' }), { mode: 0o600, flush: true })
  try {
    await link(draft, fileOf(home)).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return (await find(home))!
}

const find = (home: string) =>
  readFile(fileOf(home), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return undefined
    throw error
  })
