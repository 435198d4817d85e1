import { timingSafeEqual } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { lesserRole, localUser, type Principal } from '../../domain/auth/role.ts'
import {
  type MadeToken,
  NewToken,
  NewUser,
  type SignInCode,
  type TokenView,
  UserChanges,
  type UserView,
} from '../../domain/auth/token.ts'
import { conflict, denied, invalid, messageOf, notFound } from '../../domain/error.ts'
import { insertAudit } from '../../store/audit.ts'
import type { Db, Tx } from '../../store/database.ts'
import { forgetQuotas } from '../../store/quotas.ts'
import { deleteSecretsOf } from '../../store/secrets.ts'
import * as tokens from '../../store/tokens.ts'
import * as users from '../../store/users.ts'
import { translateDbErrors } from '../base/translate-db-errors.ts'
import type { Audit, Caller } from './audit.ts'
import { createBelieved } from './believed-tokens.ts'
import { createMint, digest, looksLikeToken } from './issue-token.ts'
import { signInVerbs } from './sign-in.ts'
import { parse, tokenView, userView } from './views.ts'

/** What can be done about who may come in. Each refuses with a `PawlError`. */
export interface EntranceVerbs {
  listUsers(): Promise<UserView[]>
  createUser(user: NewUser, caller: Caller): Promise<UserView>
  setUser(name: string, changes: UserChanges, caller: Caller): Promise<UserView>
  /** Their tokens and the secrets of their own end with them; their tasks stay. */
  removeUser(name: string, caller: Caller): Promise<void>
  /** Those that can open something, or `all` there ever were. */
  listTokens(filter?: { user?: string | undefined; all?: boolean | undefined }): Promise<TokenView[]>
  /** The text of the token is in the answer and nowhere else. */
  createToken(token: NewToken, caller: Caller): Promise<MadeToken>
  /** At once in this process, within a second in others. Revoking twice is fine. */
  revokeToken(id: string, caller: Caller): Promise<TokenView>
  /** A code with which a browser becomes whoever asks, once, within five minutes. */
  createSignInCode(caller: Caller, how?: { opens?: boolean | undefined }): Promise<SignInCode>
}

/** Who may come in. */
export interface Entrance extends EntranceVerbs {
  /** Undefined for what opens nothing. `header` is what a program shows, `cookie` what a browser that has signed in shows; one does not pass for the other. */
  authenticate(text: string, shownIn: 'header' | 'cookie'): Promise<Principal | undefined>
  /** Spends a code; answers what the browser shows from now on. Undefined if the code is not there to be spent. */
  signIn(
    code: string,
    how?: { opens?: boolean | undefined },
  ): Promise<{ session: string; user: string; expiresAt: Date } | undefined>
  signOut(principal: Principal): Promise<void>
  /** Calls back when somebody's rights were changed by this process: what goes on may have to end. */
  onChange(listener: () => void): () => void
  /** Forgets what nobody asks for any more: codes and sign-ins long gone, the counts of past days. */
  tidy(): Promise<void>
}

const dayMs = 86_400_000
const keptMs = 30 * dayMs
/** `lastUsedAt` is kept to the minute: a write for each request would cost more than the request. */
const coarseMs = 60_000

export function createEntrance(options: {
  db: Db
  clock: Clock
  log: Log
  audit: Audit
  /** The content of the home's token file: the first admin. Empty while none was made; then it opens nothing. */
  homeToken: string
}): Entrance {
  const { db, clock, log, audit } = options
  if (options.homeToken !== '' && options.homeToken.length < 16)
    throw invalid("The token of Pawl's home has fewer than 16 characters; remove its file, a new one is made.")
  const home = Buffer.from(options.homeToken)
  const owner: Principal = { user: localUser, standing: 'admin', token: 'home' }
  const now = () => new Date(clock.now())

  const listeners = new Set<() => void>()
  const believed = createBelieved({ clock, read: (hash) => translateDbErrors(() => tokens.findShown(db, hash)) })
  const forget = () => {
    believed.forget()
    for (const listener of listeners) listener()
  }
  const noteUse = (shown: tokens.Shown) => {
    if (clock.now() - (shown.last_used_at?.getTime() ?? 0) <= coarseMs) return
    tokens
      .touchToken(db, shown.id, now())
      .catch((error: unknown) => log.debug('the last use of a token was not noted', { token: shown.id, error: messageOf(error) }))
  }

  /** The act and its entry in the audit are there, or neither. */
  const act = <T>(work: (tx: Tx) => Promise<T>): Promise<T> => translateDbErrors(() => db.transaction().execute(work))
  /** An act that may take rights away: what was believed until then is not believed any more. */
  const change = async <T>(work: (tx: Tx) => Promise<T>): Promise<T> => {
    try {
      return await act(work)
    } finally {
      forget()
    }
  }
  const existing = async (name: string) => {
    const user = (await listUsers()).find((each) => each.name === name)
    if (!user) throw notFound(`There is no user "${name}"; "pawl user ls" lists those there are.`)
    return user
  }
  const listUsers = async () => (await translateDbErrors(() => users.listUsers(db, dayOf(clock.now())))).map(userView)

  const mint = createMint(clock)

  return {
    async authenticate(text, shownIn) {
      if (shownIn === 'header' && home.length > 0 && isSame(Buffer.from(text), home)) return owner
      if (!looksLikeToken(text)) return undefined
      const { shown, isFresh } = await believed.find(digest(text))
      if (shown && isFresh) noteUse(shown)
      if (!shown || (shown.expires_at && shown.expires_at.getTime() <= clock.now())) return undefined
      if (shown.kind === 'code' || (shown.kind === 'session') !== (shownIn === 'cookie')) return undefined
      const of = { user: shown.user_name, token: shown.id }
      if (shown.kind === 'hook') return { ...of, standing: 'hook' }
      if (shown.kind === 'agent') return { ...of, standing: 'agent', task: shown.task_id ?? undefined }
      return { ...of, standing: shown.role ? lesserRole(shown.role, shown.user_role) : shown.user_role }
    },

    listUsers,
    async createUser(asked, caller) {
      const { name, role, slots = null, dailyTasks = null } = parse(NewUser, asked, 'user')
      await act(async (tx) => {
        if (!(await users.insertUser(tx, { name, role, slots, dailyTasks, at: now() })))
          throw conflict(`There is a user "${name}" already; change it with "pawl user set ${name}".`)
        await insertAudit(tx, audit.entry(caller, 'user.create', name, { role, slots, dailyTasks }))
      })
      return existing(name)
    },
    async setUser(name, asked, caller) {
      const changes = parse(UserChanges, asked, 'change')
      if (name === localUser)
        throw denied(
          `The user "${localUser}" is the owner of this home: always admin, never disabled, without limits. Add another user instead.`,
        )
      await change(async (tx) => {
        if (!(await users.updateUser(tx, name, changes)))
          throw notFound(`There is no user "${name}"; "pawl user ls" lists those there are.`)
        await insertAudit(tx, audit.entry(caller, 'user.change', name, { ...changes }))
      })
      return existing(name)
    },
    async removeUser(name, caller) {
      if (name === localUser) throw denied(`The user "${localUser}" is the owner of this home and cannot be removed.`)
      await change(async (tx) => {
        if (!(await users.deleteUser(tx, name)))
          throw notFound(`There is no user "${name}"; "pawl user ls" lists those there are.`)
        await tokens.revokeTokensOf(tx, name, now())
        // Somebody of the same name later is somebody else.
        const secrets = await deleteSecretsOf(tx, `user:${name}`)
        await insertAudit(tx, audit.entry(caller, 'user.remove', name, secrets.length > 0 ? { secrets } : {}))
      })
    },

    async listTokens({ user, all = false } = {}) {
      return (await translateDbErrors(() => tokens.listTokens(db, { user, all, now: now() }))).map(tokenView)
    },
    async createToken(asked, caller) {
      const { user, kind, role, name, expiresInDays, task } = parse(NewToken, asked, 'token')
      const whose = user ?? caller.user ?? localUser
      if (role !== undefined && kind !== 'user')
        throw invalid(`A token of kind ${kind} has no role: what it may do is fixed. Leave the role out.`)
      if ((kind === 'agent') !== (task !== undefined))
        throw invalid(
          kind === 'agent'
            ? 'A token of kind agent needs the task whose run it belongs to.'
            : `Only a token of kind agent belongs to a task, not one of kind ${kind}.`,
        )
      const owning = await existing(whose)
      if (role !== undefined && lesserRole(role, owning.role) !== role)
        throw invalid(`The user "${whose}" is ${owning.role}; a token of theirs cannot be ${role}.`)
      const { text, row } = await act(async (tx) => {
        const run = task === undefined ? null : await tokens.currentRun(tx, task)
        if (run === undefined) throw conflict(`Task ${task} is not running; a token of kind agent lives only as long as its run.`)
        const lifeMs = expiresInDays === 0 ? null : expiresInDays * dayMs
        const made = await mint(tx, {
          ...{ user: whose, kind, lifeMs, by: caller.user ?? localUser },
          ...{ role: role ?? null, name: name ?? null, task: task ?? null, run },
        })
        const detail = {
          user: whose,
          kind,
          role: role ?? null,
          name: name ?? null,
          expiresAt: made.row.expires_at?.toISOString() ?? null,
        }
        await insertAudit(tx, audit.entry(caller, 'token.create', made.row.id, detail))
        return made
      })
      return { ...tokenView(row), token: text }
    },
    async revokeToken(id, caller) {
      const row = await change(async (tx) => {
        const revoked = await tokens.revokeToken(tx, id, now())
        if (!revoked) throw notFound(`There is no token ${id}; "pawl token ls" lists those there are.`)
        await insertAudit(tx, audit.entry(caller, 'token.revoke', id, { user: revoked.user_name }))
        return revoked
      })
      return tokenView(row)
    },

    ...signInVerbs({ act, change, mint, audit, now }),
    onChange(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async tidy() {
      const before = clock.now() - keptMs
      await translateDbErrors(() => Promise.all([tokens.deleteSpent(db, new Date(before)), forgetQuotas(db, dayOf(before))]))
    },
  }
}

/** Takes the same time whatever was sent in the token's length, which is no secret. */
const isSame = (given: Buffer, expected: Buffer) => given.length === expected.length && timingSafeEqual(given, expected)

/** Days are those of UTC, wherever the daemon stands. */
export const dayOf = (nowMs: number) => new Date(nowMs).toISOString().slice(0, 10)
