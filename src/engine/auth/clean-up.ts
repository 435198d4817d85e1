import { realpath } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import type { CredentialFile } from '../../agents/port.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import { removeLeft } from '../../sandbox/files/temporary.ts'
import type { Db } from '../../store/database.ts'
import { livingWorkers } from '../../store/workers.ts'
import type { Leftovers } from './cleanup-journal.ts'
import { rescueLogin } from './lent-login.ts'

/** A renewed login that was being written beside the user's own when Pawl was killed: nobody else gives a file such a name. */
async function removeHalfLogin(source: string): Promise<void> {
  const path = await realpath(source).catch(() => undefined)
  if (path !== undefined) await removeLeft(dirname(path), (name) => name.startsWith(`${basename(path)}.`))
}

/** Removes keys and logins that a killed process left in session homes. The dead have just been buried, so whoever is not listed lives no more. Never rejects. */
export async function sweepLeftovers(
  leftovers: Leftovers,
  place: { db: Db; userHome: string; logins: readonly CredentialFile[]; log: Log },
): Promise<void> {
  const { db, userHome, logins, log } = place
  try {
    for (const { path } of logins) await removeHalfLogin(join(userHome, path))
    const swept = await leftovers.sweep({
      living: async () => new Set((await livingWorkers(db)).map((worker) => worker.id)),
      rescue: (sessionHome, paths) => rescueLogin(logins, { userHome, sessionHome, paths }),
    })
    if (swept > 0) log.info('keys and logins of killed runs were removed', { sessions: swept, reason: 'leftovers' })
  } catch (error) {
    log.error('keys or logins of killed runs are still in their session homes', { error: messageOf(error), reason: 'leftovers' })
  }
}
