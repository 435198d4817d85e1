import { createHash } from 'node:crypto'
import { chown, readFile, realpath, stat, truncate, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { CredentialFile } from '../../agents/port.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import { type Secret, secretsIn } from '../../domain/base/secret-names.ts'
import { readHomeFile, writeHomeFile } from '../../sandbox/files/home-files.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import type { Leftovers } from './cleanup-journal.ts'

/** A program's own login, lent to a session home. */
export interface LentLogin {
  /** Programs refresh their login as they go; what is newer in the session home than at its source goes back there. May be called any time. */
  giveBack(): Promise<void>
  /** Of all versions of it that were seen here. */
  secrets(): readonly Secret[]
}

const maxBytes = 1024 * 1024

/** The logins of Pawl's own user, as they are now; none if it is not logged in. */
export async function loginTexts(files: readonly CredentialFile[], userHome: string): Promise<string[]> {
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readSource(join(userHome, file.path)) })))
  return texts.flatMap(({ file, text }) => (text !== undefined && file.newness(text) !== undefined ? [text] : []))
}

export interface LendingPlace {
  readonly userHome: string
  readonly sessionHome: string
  readonly user: AgentUser | undefined
  readonly leftovers: Leftovers
  readonly clock: Clock
  /** Told of secrets that the program has got itself. */
  readonly hide: (secrets: readonly Secret[]) => void
}

/**
 * Copied under a lock, so that nobody lends a login while another one is being given back. One that is about to end is lent to one program alone until that has
 * renewed it: a renewal can be asked for once only, and whoever asks second is refused, or logs everybody out.
 */
export async function lendLogin(files: readonly CredentialFile[], place: LendingPlace): Promise<LentLogin> {
  const { userHome, sessionHome: home, user, leftovers } = place
  const lent = new Map<string, string>()
  const seen = new Set<string>()
  const isLent = Promise.withResolvers<void>()
  const over = new AbortController()
  const paths = files.map((file) => file.path)
  const takeBack = async () => {
    for (const text of await rescueLogin(files, { userHome, sessionHome: home, paths, lent })) {
      if (seen.has(text)) continue
      seen.add(text)
      place.hide(secretsOf(text))
    }
  }
  const lending = leftovers.locked(async () => {
    // What a killed run had renewed would be overwritten here.
    await rescueLogin(files, { userHome, sessionHome: home, paths: await leftovers.recall(home) })
    await leftovers.remember(home, paths)
    for (const path of paths) {
      const text = await readSource(join(userHome, path))
      if (text === undefined) continue
      seen.add(text)
      lent.set(path, text)
      await writeHomeFile({ home, path }, text, { user })
    }
    isLent.resolve()
    for (const file of files) {
      const text = lent.get(file.path)
      if (text !== undefined && (await isRenewed(file, text, place, over.signal))) await takeBack()
    }
  })
  // What fails after it was lent fails again, and is told, when it is given back.
  lending.catch(isLent.reject)
  await isLent.promise
  return {
    async giveBack() {
      over.abort()
      await lending.catch(() => undefined)
      await leftovers.locked(takeBack)
    },
    secrets: () => [...seen].flatMap(secretsOf),
  }
}

/** Programs renew a login some minutes before it ends. */
const dueMs = 5 * 60_000
/** A program that has not done so by then does not want to, or cannot. */
const renewalMs = 15_000
const lookEveryMs = 50
/** Logins that were due and that a program did not renew: nobody waits for that again. */
const unrenewed = new Set<string>()

/** True as soon as the program has renewed a login that was due. False at once for any other, and for one that it leaves as it is. */
async function isRenewed(file: CredentialFile, lent: string, place: LendingPlace, over: AbortSignal): Promise<boolean> {
  const { clock, sessionHome: home } = place
  const isDue = (text: string) => (file.expiresAt?.(text) ?? Number.POSITIVE_INFINITY) - dueMs < clock.now()
  if (!isDue(lent) || unrenewed.has(digest(lent))) return false
  for (const deadline = clock.monotonic() + renewalMs; !over.aborted && clock.monotonic() < deadline; ) {
    const text = await readHomeFile({ home, path: file.path }, maxBytes)
    if (text !== undefined && text !== lent && file.newness(text) !== undefined) return true
    await sleep(clock, lookEveryMs)
  }
  unrenewed.add(digest(lent))
  return false
}

const digest = (text: string) => createHash('sha256').update(text).digest('hex')

/** What is called a token, a key or the like in a login. One that is not JSON is a secret as a whole. */
export function secretsOf(text: string): Secret[] {
  const found: Secret[] = []
  try {
    JSON.parse(text, (name, value: unknown) => {
      if (typeof value === 'string') found.push(...secretsIn({ [name]: value }))
      return value
    })
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
    return [{ name: 'login', value: text }]
  }
  return found
}

/** Of the files that were lent to a session home, those that are newer there go back; answers how they all are there. The caller holds the lock. */
export async function rescueLogin(
  files: readonly CredentialFile[],
  place: {
    readonly userHome: string
    readonly sessionHome: string
    readonly paths: readonly string[]
    /** How they were lent, where that is known. */
    readonly lent?: ReadonlyMap<string, string>
  },
): Promise<string[]> {
  const texts: string[] = []
  for (const file of files) {
    if (!place.paths.includes(file.path)) continue
    const refreshed = await readHomeFile({ home: place.sessionHome, path: file.path }, maxBytes)
    if (refreshed === undefined) continue
    texts.push(refreshed)
    await putBack(join(place.userHome, file.path), file, { refreshed, lent: place.lent?.get(file.path) })
  }
  return texts
}

/** What this process put back last, by place. */
const returned = new Map<string, string>()

/**
 * Only over what was lent, or what another run has put back since: any other was put there by a user who has logged in again, maybe as somebody else. Whatever is
 * newer stays.
 */
async function putBack(
  source: string,
  file: CredentialFile,
  { refreshed, lent }: { refreshed: string; lent: string | undefined },
): Promise<void> {
  const newness = file.newness(refreshed)
  const there = await readSource(source)
  if (newness === undefined || there === undefined || there === refreshed) return
  if (newness <= (file.newness(there) ?? Number.NEGATIVE_INFINITY)) return
  // The agent can write this file: what no renewal looks like is its own invention, and must not become the user's login.
  if (newness > Date.now() + longestLoginMs || file.account?.(refreshed) !== file.account?.(there)) return
  if (lent !== undefined && there !== lent && returned.get(source) !== digest(there)) return
  await replaceSource(source, refreshed)
  returned.set(source, digest(refreshed))
}

const longestLoginMs = 400 * 86_400_000

async function replaceSource(source: string, text: string): Promise<void> {
  // Where a link leads stays a file of its own, and a file that is mounted by itself can only be written in place.
  const path = await realpath(source)
  const { uid, gid, mode } = await stat(path)
  try {
    await writeFileDurably(path, text, mode & 0o777)
    if (process.getuid?.() === 0) await chown(path, uid, gid)
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'EBUSY') throw error
    await writeFile(path, text, { flag: 'r+', flush: true })
    await truncate(path, Buffer.byteLength(text))
  }
}

async function readSource(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).size > maxBytes ? undefined : await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
