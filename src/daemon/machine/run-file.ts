import { readFile, rename, rm, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { conflict } from '../../domain/error.ts'
import { isAlive, type ProcessIdentity } from '../../sandbox/process/identity.ts'

/** What `$PAWL_HOME/run.json` says of the daemon of a home: where it listens, and who it is. */
export interface RunFile extends ProcessIdentity {
  readonly url: string
  readonly version: string
  /** Its certificate chain as PEM, where it speaks TLS: whoever finds it here trusts exactly that. */
  readonly certificate?: string
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

/** Claims the home for one daemon; a dead one's claim is taken over. The caller holds a lock meanwhile, so that of two that start in the same moment one is refused. */
export async function claimHome(home: string, self: RunFile): Promise<void> {
  const other = await readRunFile(home)
  if (other && other.pid !== self.pid && isAlive(other) !== false) {
    throw conflict(
      `A daemon of this home is already running (pid ${other.pid}${other.url ? ` at ${other.url}` : ''}); use it, stop it with "pawl stop", or choose another home (PAWL_HOME).`,
    )
  }
  await publishRunFile(home, self)
}

/** Says who the daemon is and, once it listens, where. There is no moment without a whole file. */
export async function publishRunFile(home: string, self: RunFile): Promise<void> {
  await replaceFile(fileOf(home), JSON.stringify(self))
}

export async function releaseHome(home: string, pid: number): Promise<void> {
  if ((await readRunFile(home))?.pid === pid) await rm(fileOf(home), { force: true })
}

export async function readRunFile(home: string): Promise<RunFile | undefined> {
  try {
    return JSON.parse(await readFile(fileOf(home), 'utf8')) as RunFile
  } catch {
    // None, or torn by a crash of the machine: then nobody is there.
    return undefined
  }
}

/** The token of a home, made at the first start; an empty file, left by a crash, counts as none. Readable by its owner alone. */
export async function ensureToken(home: string, make: () => string): Promise<string> {
  const file = tokenOf(home)
  const found = await readToken(home)
  if (found !== '') return found
  const token = make()
  await replaceFile(file, `${token}\n`)
  return token
}

/** Empty if none was made yet. */
export async function readToken(home: string): Promise<string> {
  const found = await readFile(tokenOf(home), 'utf8').catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT') return ''
    throw error
  })
  return found.trim()
}

async function replaceFile(file: string, text: string): Promise<void> {
  const temporary = `${file}.${process.pid}`
  await writeFile(temporary, text, { mode: 0o600, flush: true })
  await rename(temporary, file)
}
