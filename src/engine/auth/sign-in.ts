import { localUser } from '../../domain/auth/role.ts'
import { denied } from '../../domain/error.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Tx } from '../../store/database.ts'
import * as tokens from '../../store/tokens.ts'
import type { Audit } from './audit.ts'
import type { Entrance } from './auth.ts'
import { digest, looksLikeToken, type Mint } from './issue-token.ts'

const codeLifeMs = 5 * 60_000
/** As long as a browser takes to start. */
const openingLifeMs = 60_000
const opening = 'open'
/** What the token of the home is called. */
const homeToken = 'home'
const sessionLifeMs = 12 * 3_600_000

type Transact = <T>(work: (tx: Tx) => Promise<T>) => Promise<T>

/** How a browser comes in: by a code that somebody asks for who is in already. It has no more rights than they, and no longer. */
export function signInVerbs(parts: {
  readonly act: Transact
  /** An act that takes rights away. */
  readonly change: Transact
  readonly mint: Mint
  readonly audit: Audit
  readonly now: () => Date
}): Pick<Entrance, 'createSignInCode' | 'signIn' | 'signOut'> {
  const { act, change, mint, audit, now } = parts
  return {
    async createSignInCode(caller, { opens = false } = {}) {
      // A link of somebody else must not make a browser theirs without being asked: only the owner's is followed at once.
      if (opens && caller.token !== undefined && caller.token !== homeToken)
        throw denied('Only the owner of the home opens a browser signed in; run "pawl sign-in" and open the address it prints.')
      const user = caller.user ?? localUser
      const { text, row } = await act(async (tx) => {
        const shown = caller.token === undefined ? undefined : await tokens.findToken(tx, caller.token)
        if (shown?.kind === 'session')
          throw denied('A browser cannot sign in another, or it would stay for ever; run "pawl sign-in" in a terminal.')
        // A token may be less than its user.
        const of = { user, by: user, role: shown?.role ?? null, askedBy: shown?.id ?? null }
        const made = await mint(tx, {
          ...of,
          kind: 'code',
          ...(opens ? { lifeMs: openingLifeMs, name: opening } : { lifeMs: codeLifeMs }),
        })
        await insertAudit(tx, audit.entry(caller, 'sign_in.code', made.row.id))
        return made
      })
      return { code: text, path: `${opens ? '/open' : '/sign-in'}?code=${text}`, expiresAt: row.expires_at!.toISOString() }
    },
    async signIn(code, { opens = false } = {}) {
      if (!looksLikeToken(code)) return undefined
      return act(async (tx) => {
        const spent = await tokens.spendToken(tx, digest(code), 'code', { at: now(), ...(opens ? { name: opening } : {}) })
        if (!spent) return undefined
        const { id, user, role, askedBy } = spent
        const of = { user, by: user, role, askedBy }
        const { text, row } = await mint(tx, { ...of, kind: 'session', lifeMs: sessionLifeMs, name: 'browser' })
        await insertAudit(tx, audit.entry({ by: user, user, token: id }, 'sign_in', row.id))
        return { session: text, user, expiresAt: row.expires_at! }
      })
    },
    async signOut({ user, token }) {
      await change(async (tx) => {
        await tokens.revokeToken(tx, token, now())
        await insertAudit(tx, audit.entry({ by: user, user, token }, 'sign_out', token))
      })
    },
  }
}
