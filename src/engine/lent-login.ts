import { chown, readFile, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { CredentialFile } from '../agent.ts'
import { writeFileDurably } from '../store/durable-file.ts'
import { readHomeFile, writeHomeFile } from './home-files.ts'
import type { Leftovers } from './leftovers.ts'
import type { AgentUser } from './workspace.ts'

/** A program's own login, lent to a session home. */
export interface LentLogin {
  /** Programs refresh their login as they go; what is newer in the session home than at its source goes back there. May be called any time. */
  giveBack(): Promise<void>
}

const maxBytes = 1024 * 1024

/** The logins of Pawl's own user, as they are now; none if it is not logged in. */
export async function loginTexts(files: readonly CredentialFile[], userHome: string): Promise<string[]> {
  const texts = await Promise.all(files.map(async (file) => ({ file, text: await readSource(join(userHome, file.path)) })))
  return texts.flatMap(({ file, text }) => (text !== undefined && file.newness(text) !== undefined ? [text] : []))
}

/** Copied under a lock, so that nobody lends a login while another one is being given back. */
export async function lendLogin(
  files: readonly CredentialFile[],
  place: { userHome: string; sessionHome: string; user: AgentUser | undefined; leftovers: Leftovers },
): Promise<LentLogin> {
  const { userHome, sessionHome: home, user, leftovers } = place
  const paths = files.map((file) => file.path)
  await leftovers.locked(async () => {
    // What a killed run had renewed would be overwritten here.
    await rescueLogin(files, { userHome, sessionHome: home, paths: await leftovers.recall(home) })
    await leftovers.remember(home, paths)
    for (const path of paths) {
      const text = await readSource(join(userHome, path))
      if (text !== undefined) await writeHomeFile({ home, path }, text, { user })
    }
  })
  return { giveBack: () => leftovers.locked(() => rescueLogin(files, { userHome, sessionHome: home, paths })) }
}

/** Of the files that were lent to a session home, those that are newer there go back. The caller holds the lock. */
export async function rescueLogin(
  files: readonly CredentialFile[],
  place: { userHome: string; sessionHome: string; paths: readonly string[] },
): Promise<void> {
  for (const file of files) {
    if (!place.paths.includes(file.path)) continue
    const refreshed = await readHomeFile({ home: place.sessionHome, path: file.path }, maxBytes)
    if (refreshed !== undefined) await putBack(join(place.userHome, file.path), file, refreshed)
  }
}

/** Whatever is newer stays: somebody may have logged in again meanwhile, or another run may have refreshed it first. */
async function putBack(source: string, file: CredentialFile, refreshed: string): Promise<void> {
  const newness = file.newness(refreshed)
  const there = await readSource(source)
  if (newness === undefined || there === undefined || there === refreshed) return
  if (newness <= (file.newness(there) ?? Number.NEGATIVE_INFINITY)) return
  const { uid, gid, mode } = await stat(source)
  await writeFileDurably(source, refreshed, mode & 0o777)
  if (process.getuid?.() === 0) await chown(source, uid, gid)
}

async function readSource(path: string): Promise<string | undefined> {
  try {
    return (await stat(path)).size > maxBytes ? undefined : await readFile(path, 'utf8')
  } catch (error) {
    if (['ENOENT', 'ENOTDIR', 'EACCES', 'EISDIR'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
