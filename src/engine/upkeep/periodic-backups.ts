import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import type { BackupView, NewBackup } from '../../domain/view/backup.ts'
import type { Caller } from '../auth/audit.ts'

export interface PeriodicSettings {
  /** Undefined: none are taken by themselves. */
  readonly everyMs?: number | undefined
  readonly keep: number
  readonly folder: string
  readonly withWorkspaces: boolean
  readonly withLogs: boolean
}

/** Takes backups and lists them, newest first. */
export interface BackupTaking {
  createBackup(how: NewBackup & { readonly file?: string | undefined }, caller: Caller): Promise<BackupView>
  listBackups(): Promise<BackupView[]>
}

/** Backups that are taken by themselves have a name of their own: only those are removed when there are enough newer ones. */
const prefix = 'auto-'

/** Takes a backup whenever the last one is `every` old, counted from when that was begun: what is lost with a disk is at most that, and the time one takes. */
export function createPeriodicBackups(options: { verbs: BackupTaking; settings: PeriodicSettings; clock: Clock; log: Log }): {
  start(): void
  stop(): Promise<void>
} {
  const { verbs, settings, clock, log } = options
  const { everyMs, keep, folder } = settings
  let cancelTimer: (() => void) | undefined
  let isStopped = true
  let working: Promise<unknown> = Promise.resolve()

  const own = async () => (await verbs.listBackups()).filter(({ name }) => name.startsWith(prefix))
  const take = async () => {
    const at = new Date(clock.now()).toISOString().replaceAll(':', '-').replace('T', '_').replace('Z', '')
    const { withWorkspaces, withLogs } = settings
    const made = await verbs.createBackup(
      { file: join(folder, `${prefix}${at}.pawl`), withWorkspaces, withLogs },
      { by: 'schedule' },
    )
    log.debug('a backup was taken', { name: made.name, bytes: made.bytes })
    for (const { name } of (await own()).slice(keep)) await rm(join(folder, name), { force: true })
  }
  const plan = (ms: number) => {
    if (!isStopped) cancelTimer = clock.after(ms, tick)
  }
  const tick = () => {
    const begunAt = clock.monotonic()
    working = take()
      .catch((error: unknown) =>
        log.error('a backup failed and will be tried again', { error: messageOf(error), reason: 'backup_failed' }),
      )
      .then(() => plan(Math.max(1_000, (everyMs ?? 0) - (clock.monotonic() - begunAt))))
  }

  return {
    start() {
      if (everyMs === undefined) return
      isStopped = false
      working = own()
        .catch((error: unknown) => {
          log.warn('the backups that are kept cannot be listed', { error: messageOf(error) })
          return []
        })
        .then(([newest]) => plan(newest ? Math.max(0, Date.parse(newest.takenAt) + everyMs - clock.now()) : 0))
    },
    async stop() {
      isStopped = true
      cancelTimer?.()
      await working
    },
  }
}
