import { access, chown, constants, lstat, mkdir, readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PawlError } from '../../domain/error.ts'
import type { Changes } from './bring-back.ts'
import { type CopyPlan, copyWorkspace } from './copy.ts'

/** A workspace made ready for one run. */
export interface PreparedWorkspace {
  /** The path the agent sees. */
  readonly path: string
  /** Where its files really are while the run lasts. */
  readonly source: string
  /** Brings back what changed, if the run worked on a copy. A last run's copy that could not all be brought back is kept apart from later runs. */
  finish(isLast: boolean): Promise<BroughtBack | undefined>
}

export interface BroughtBack extends Changes {
  /** Where the rest is, if not everything could be brought back. */
  readonly keptAt: string | undefined
}

export type AgentUser = { readonly uid: number; readonly gid: number }

/** Opens the directory the task names, or makes its own; copies it if the agent's user could not write it. */
export async function prepareWorkspace(
  options: {
    path: string
    own: boolean
    user: AgentUser | undefined
    /** Told before a copy is made: that may take a while. */
    onCopy: () => void
  } & Omit<CopyPlan, 'original' | 'owner'>,
): Promise<PreparedWorkspace> {
  const { path, own, user, onCopy, ...plan } = options
  if (own) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (user) await chown(path, user.uid, user.gid)
  }
  await assertUsable(path)
  if (!user || own || (await isWritableBy(path, user))) return { path, source: path, finish: async () => undefined }
  onCopy()
  const copy = await copyWorkspace({ ...plan, original: path, owner: user })
  return {
    path,
    source: copy.path,
    async finish(isLast) {
      const changes = await copy.bringBack()
      if (changes.conflicts.length + changes.failed.length > 0)
        return { ...changes, keptAt: isLast ? await copy.keep() : copy.path }
      await copy.remove()
      return { ...changes, keptAt: undefined }
    },
  }
}

/** Refuses, in a sentence, what cannot be worked in. */
export async function assertUsable(path: string): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new PawlError('invalid', `The workspace ${path} does not exist; create it, or name another with --workspace.`)
  if (!found.isDirectory()) throw new PawlError('invalid', `The workspace ${path} is not a directory.`)
  const readable = await access(path, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!readable)
    throw new PawlError('invalid', `The workspace ${path} cannot be read by this user; change its permissions, or name another.`)
}

/** Its own folder, or one that is open to all as far as a quick look shows: a file in it that the agent could not edit means a copy. */
async function isWritableBy(path: string, user: AgentUser): Promise<boolean> {
  if ((await lstat(path)).uid === user.uid) return true
  const folders = [path]
  for (let seen = 0; seen < 200; ) {
    const folder = folders.shift()
    if (folder === undefined) break
    if (!mayWrite(await lstat(folder), user)) return false
    for (const entry of await readdir(folder, { withFileTypes: true })) {
      if (++seen > 200) break
      const below = join(folder, entry.name)
      if (entry.isDirectory()) folders.push(below)
      else if (entry.isFile() && !mayWrite(await lstat(below), user)) return false
    }
  }
  return true
}

const mayWrite = (found: { uid: number; mode: number }, user: AgentUser) =>
  found.uid === user.uid ? (found.mode & 0o200) !== 0 : (found.mode & 0o002) !== 0
