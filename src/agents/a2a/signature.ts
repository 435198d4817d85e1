import { createPublicKey, type KeyObject } from 'node:crypto'
import type { AgentCard } from '@a2a-js/sdk'
import type { JWK } from 'jose'
import { messageOf, PawlError } from '../../domain/error.ts'
import { cut } from '../shared/text.ts'
import type { A2aOptions } from './options.ts'
import { keyPlaces } from './program/card.ts'

/** Who stands behind a card: `by` names the key. */
export type Signed =
  | { readonly how: 'pinned' | 'checked'; readonly by: string }
  /** There is a signature, and nothing to check it with. */
  | { readonly how: 'unchecked'; readonly by: string; readonly why: string }
  | { readonly how: 'unsigned' }

interface Given {
  readonly raw: object
  readonly card: AgentCard
  /** Of a version before 1.0, whose signatures were made of another text. */
  readonly isOld: boolean
  readonly keys: Readonly<Record<string, string>>
}

/**
 * A pinned key alone proves who made the card. A key that the card itself names proves as much as its host does: that what came is what was signed there. A signature that is
 * there and wrong is refused in any case but one: that nobody is to look.
 */
export async function checkSignature(given: Given, { cardKey, verify }: A2aOptions): Promise<Signed> {
  const wanted = verify ?? (cardKey === undefined ? 'when-signed' : 'required')
  const { signatures } = given.card
  const names = namesOf(given)
  if (wanted === 'off')
    return signatures.length === 0 ? { how: 'unsigned' } : { how: 'unchecked', by: names, why: 'verify is off' }
  if (signatures.length === 0) {
    if (wanted === 'required') throw new PawlError('denied', 'it is not signed, and this agent wants it signed (verify, cardKey)')
    return { how: 'unsigned' }
  }
  if (given.isOld) {
    if (wanted === 'required') throw new PawlError('denied', 'it is a card of A2A 0.3, whose signature cannot be checked')
    return { how: 'unchecked', by: names, why: 'it is a card of A2A 0.3' }
  }
  if (cardKey !== undefined) {
    if (!(await isSigned(given.card, [readKey(cardKey)])))
      throw new PawlError('denied', 'it is not signed with the key that cardKey names')
    return { how: 'pinned', by: names }
  }
  const found = keySets(given)
  if (found.length === 0) {
    const why = 'it names no key that could be had from its own host'
    if (wanted === 'required') throw new PawlError('denied', `its signature cannot be checked: ${why}; give the key in cardKey`)
    return { how: 'unchecked', by: names, why }
  }
  if (!(await isSigned(given.card, found)))
    throw new PawlError('denied', 'its signature is wrong; it was changed on the way, or was signed with another key')
  return { how: 'checked', by: names }
}

/** By one of the keys, one of the signatures. The library has this too, and tells of each failure on standard output, which is not its own. */
async function isSigned(card: AgentCard, keys: readonly (JWK | KeyObject)[]): Promise<boolean> {
  const [{ canonicalizeAgentCard }, { flattenedVerify, errors }] = await Promise.all([import('@a2a-js/sdk'), import('jose')])
  const payload = Buffer.from(canonicalizeAgentCard(card)).toString('base64url')
  for (const { protected: header, signature } of card.signatures)
    for (const key of keys) {
      try {
        await flattenedVerify({ payload, protected: header, signature }, key)
        return true
      } catch (thrown) {
        // A key of another kind, or a header that is none: as good as no signature.
        if (!(thrown instanceof errors.JOSEError || thrown instanceof TypeError)) throw thrown
      }
    }
  return false
}

function namesOf({ card }: Given): string {
  const ids = card.signatures.map(({ protected: header }) => {
    try {
      return String(
        (JSON.parse(Buffer.from(header, 'base64url').toString('utf8')) as { kid?: unknown }).kid ?? 'a key without a name',
      )
    } catch (thrown) {
      if (thrown instanceof SyntaxError) return 'a key without a name'
      throw thrown
    }
  })
  return cut([...new Set(ids)].join(', '), 200)
}

function keySets({ raw, keys }: Given): JWK[] {
  return keyPlaces(raw).flatMap((place) => {
    try {
      const set = JSON.parse(keys[place] ?? '{}') as { keys?: unknown; kty?: unknown }
      if (Array.isArray(set.keys)) return set.keys as JWK[]
      return typeof set.kty === 'string' ? [set as JWK] : []
    } catch (thrown) {
      if (thrown instanceof SyntaxError) return []
      throw thrown
    }
  })
}

function readKey(cardKey: NonNullable<A2aOptions['cardKey']>): JWK | KeyObject {
  if (typeof cardKey !== 'string') return cardKey as JWK
  const text = cardKey.trim()
  try {
    return text.startsWith('{') ? (JSON.parse(text) as JWK) : createPublicKey(text)
  } catch (thrown) {
    throw new PawlError(
      'invalid',
      `the key that cardKey holds cannot be read: it is neither a JWK nor PEM (${messageOf(thrown)})`,
    )
  }
}
