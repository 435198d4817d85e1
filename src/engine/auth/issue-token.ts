import { createHash, randomBytes } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import { type TokenKind, tokenPrefix } from '../../domain/auth/token.ts'
import { newId } from '../../domain/id.ts'
import type { Tx } from '../../store/database.ts'
import type { TokenRow } from '../../store/tables.ts'
import { insertToken, type TokenToInsert } from '../../store/tokens.ts'

/** Makes whatever lets somebody in. The text is in the answer and nowhere else. */
export type Mint = (
  tx: Tx,
  made: { user: string; kind: TokenKind; lifeMs: number | null; by: string } & Partial<
    Pick<TokenToInsert, 'role' | 'name' | 'task' | 'run' | 'askedBy'>
  >,
) => Promise<{ text: string; row: TokenRow }>

export const createMint =
  (clock: Clock): Mint =>
  async (tx, made) => {
    const text = `${tokenPrefix}${randomBytes(32).toString('base64url')}`
    const at = new Date(clock.now())
    const row = await insertToken(tx, {
      ...{ role: null, name: null, task: null, run: null, askedBy: null, ...made },
      id: newId('token', clock.now()),
      hash: digest(text),
      at,
      expiresAt: made.lifeMs === null ? null : new Date(at.getTime() + made.lifeMs),
    })
    return { text, row }
  }

export const digest = (text: string) => createHash('sha256').update(text).digest()

/** Nothing else was ever a token, so nobody need be asked about it. */
export const looksLikeToken = (text: string) => text.startsWith(tokenPrefix) && text.length <= 100
