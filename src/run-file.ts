import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { conflict } from './domain/error.ts'
import { isAlive, type ProcessIdentity } from './process/identity.ts'

/** What `$PAWL_HOME/run.json` says of the daemon of a home: where it listens, and who it is. */
export interface RunFile extends ProcessIdentity {
  readonly url: string
  readonly version: string
}

export interface FoundDaemon extends RunFile {
  readonly token: string
}

const fileOf = (home: string) => join(home, 'run.json')
const tokenOf = (home: string) => join(home, 'token')

/** The living daemon of a home, with the token to speak to it. A file left by a dead one counts for nothing. */
export async function findDaemon(home: string): Promise<FoundDaemon | undefined> {
  const found = await readRunFile(home)
  if (!found || found.url === '' || isAlive(found) === false) return undefined
  const token = await readFile(tokenOf(home), 'utf8').catch(() => undefined)
  return token === undefined ? undefined : { ...found, token: token.trim() }
}

/** Claims the home for one daemon. Of two that start in the same moment one is refused; a dead one's claim is taken over. */
export async function claimHome(home: string, self: RunFile): Promise<void> {
  const temporary = `${fileOf(home)}.${self.pid}`
  await writeFile(temporary, JSON.stringify(self), { mode: 0o600 })
  try {
    for (;;) {
      const made = await link(temporary, fileOf(home)).then(
        () => true,
        (error: NodeJS.ErrnoException) => {
          if (error.code === 'EEXIST') return false
          throw error
        },
      )
      if (made) return
      const other = await readRunFile(home)
      if (other && other.pid !== self.pid && isAlive(other) !== false) {
        throw conflict(
          `A daemon of this home is already running (pid ${other.pid}${other.url ? ` at ${other.url}` : ''}); use it, stop it with "pawl stop", or choose another home (PAWL_HOME).`,
        )
      }
      await rm(fileOf(home), { force: true })
    }
  } finally {
    await rm(temporary, { force: true })
  }
}

/** Says where the daemon listens, once it does. */
export async function publishUrl(home: string, self: RunFile): Promise<void> {
  await rm(fileOf(home), { force: true })
  await claimHome(home, self)
}

export async function releaseHome(home: string, pid: number): Promise<void> {
  if ((await readRunFile(home))?.pid === pid) await rm(fileOf(home), { force: true })
}

async function readRunFile(home: string): Promise<RunFile | undefined> {
  try {
    return JSON.parse(await readFile(fileOf(home), 'utf8')) as RunFile
  } catch {
    // None, or torn by a crash of the machine: then nobody is there.
    return undefined
  }
}

/** The token of a home, made at the first start. The file is readable by its owner alone. */
export async function ensureToken(home: string, make: () => string): Promise<string> {
  const file = tokenOf(home)
  await writeFile(file, `${make()}\n`, { mode: 0o600, flag: 'wx' }).catch((error: NodeJS.ErrnoException) => {
    if (error.code !== 'EEXIST') throw error
  })
  return (await readFile(file, 'utf8')).trim()
}
