import { createHash } from 'node:crypto'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { AuditAction, AuditEntry, AuditVerdict, AuditView } from '../../domain/auth/audit.ts'
import { localUser, type Standing } from '../../domain/auth/role.ts'
import { canonicalJson } from '../../domain/base/canonical-json.ts'
import { invalid, messageOf } from '../../domain/error.ts'
import type { Page } from '../../domain/view/view.ts'
import * as store from '../../store/audit.ts'
import type { Db } from '../../store/database.ts'
import { translateDbErrors } from '../base/translate-db-errors.ts'

/** Who asks: `by` is written into the journal, `user` and `token` into the audit. */
export interface Caller {
  readonly by: string
  /** The owner of the home if left out. */
  readonly user?: string | undefined
  /** The id of the token that let them in. */
  readonly token?: string | undefined
  /** What they stand for; the owner of the home if left out. */
  readonly standing?: Standing | undefined
}

/**
 * Who did what, in a chain of hashes. Entries are written with the act they tell of; a moment later one process at a time seals them: each gets its number and the
 * hash of itself and the one before. Whatever is changed or taken away afterwards breaks the chain there.
 */
export interface Audit {
  /** An entry to be written in the transaction of the act itself. */
  entry(caller: Caller, action: AuditAction, subject: string, detail?: Record<string, unknown>): AuditEntry
  /** An entry for an act that writes nothing else. */
  record(caller: Caller, action: AuditAction, subject: string, detail?: Record<string, unknown>): Promise<void>
  /** Seals what waits; answers how many. With `wait` it is done when this resolves, whoever did it. */
  seal(options?: { wait: boolean }): Promise<number>
  list(filter: AuditFilter): Promise<Page<AuditView>>
  /** Walks the whole chain. With `contains`, the chain must also have that hash: proof against one that was written anew. */
  verify(options?: { contains?: string | undefined }): Promise<AuditVerdict>
  start(): void
  stop(): Promise<void>
}

export interface AuditFilter {
  readonly limit: number
  readonly cursor?: string | undefined
  readonly actor?: string | undefined
  readonly action?: string | undefined
}

const sealEveryMs = 5_000
const sealedAtOnce = 1_000
const readAtOnce = 1_000

export function createAudit(options: { db: Db; clock: Clock; log: Log; redact?: <T>(value: T) => T }): Audit {
  const { db, clock, log, redact = (value) => value } = options
  let cancelTimer: (() => void) | undefined
  let sealing: Promise<unknown> = Promise.resolve()

  const sealSome = (wait: boolean) =>
    db.transaction().execute(async (tx) => {
      if (!(await store.lockAudit(tx, { wait }))) return 0
      const waiting = await store.findUnsealed(tx, sealedAtOnce)
      if (waiting.length === 0) return 0
      const head = await store.findHead(tx)
      let { seq, hash } = head ?? beginning
      const seals = waiting.map((entry) => {
        seq++
        hash = hashOf(hash, seq, entry)
        return { id: entry.id, seq, hash }
      })
      await store.seal(tx, seals)
      return seals.length
    })
  const seal = async ({ wait } = { wait: false }) => {
    let total = 0
    for (let count = sealedAtOnce; count === sealedAtOnce; total += count) count = await translateDbErrors(() => sealSome(wait))
    return total
  }
  const tick = () => {
    sealing = store
      .findUnsealed(db, 1)
      .then((waiting) => (waiting.length > 0 ? seal() : 0))
      .catch((error: unknown) => log.warn('sealing the audit will be tried again', { error: messageOf(error) }))
      .then(() => {
        if (cancelTimer) cancelTimer = clock.after(sealEveryMs, tick)
      })
  }

  const entry: Audit['entry'] = ({ by, user = localUser, token = by }, action, subject, detail = {}) => ({
    at: new Date(clock.now()),
    actor: user,
    via: token,
    action,
    subject,
    detail: redact(detail),
  })

  return {
    entry,
    async record(caller, action, subject, detail) {
      await translateDbErrors(() => store.insertAudit(db, entry(caller, action, subject, detail)))
    },
    seal,
    async list({ limit, cursor, actor, action }) {
      if (cursor !== undefined && !/^\d{1,15}$/.test(cursor))
        throw invalid('This cursor is not one that a list has given; leave it out to begin at the newest.')
      await seal({ wait: true })
      const before = cursor === undefined ? undefined : Number(cursor)
      const rows = await translateDbErrors(() => store.listAudit(db, { limit: limit + 1, before, actor, action }))
      const items = rows.slice(0, limit)
      return { items: items.map(view), next: rows.length > limit ? String(items.at(-1)?.seq) : null }
    },
    async verify({ contains } = {}) {
      await seal({ wait: true })
      let { seq, hash } = beginning
      let hasContained = contains === undefined
      const bad = (at: number, why: string): AuditVerdict => ({
        isWhole: false,
        entries: seq,
        head: seq === 0 ? null : hash.toString('hex'),
        firstBad: { seq: at, why },
      })
      for (;;) {
        const rows = await translateDbErrors(() => store.readAudit(db, { after: seq, limit: readAtOnce }))
        for (const row of rows) {
          if (row.seq !== seq + 1) return bad(seq + 1, `entry ${seq + 1} is missing`)
          const expected = hashOf(hash, row.seq, row)
          if (!expected.equals(row.hash)) return bad(row.seq, `entry ${row.seq} is not as it was sealed`)
          seq = row.seq
          hash = expected
          hasContained ||= hash.toString('hex') === contains
        }
        if (rows.length < readAtOnce) break
      }
      if (!hasContained)
        return bad(seq + 1, `no entry has the hash ${contains}: the chain was written anew, or its end is missing`)
      return { isWhole: true, entries: seq, head: seq === 0 ? null : hash.toString('hex'), firstBad: null }
    },
    start() {
      cancelTimer ??= clock.after(0, tick)
    },
    async stop() {
      cancelTimer?.()
      cancelTimer = undefined
      await sealing
      // Whoever looks next may be somebody with less to lose.
      await seal().catch((error: unknown) =>
        log.warn('the last entries of the audit are not sealed yet', { error: messageOf(error) }),
      )
    },
  }
}

/** Before the first entry. */
const beginning: { readonly seq: number; readonly hash: Buffer } = { seq: 0, hash: Buffer.alloc(32) }

function hashOf(before: Buffer, seq: number, { at, actor, via, action, subject, detail }: Omit<store.Unsealed, 'id'>): Buffer {
  const text = canonicalJson({ seq, at: at.toISOString(), actor, via, action, subject, detail })
  return createHash('sha256').update(before).update(text).digest()
}

const view = ({ seq, at, actor, via, action, subject, detail, hash }: store.AuditRow): AuditView => ({
  seq,
  at: at.toISOString(),
  actor,
  via,
  action,
  subject,
  detail,
  hash: hash.toString('hex'),
})
