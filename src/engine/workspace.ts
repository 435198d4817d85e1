import { access, chown, constants, lstat, mkdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { PawlError } from '../domain/error.ts'
import { type Changes, copyWorkspace } from './workspace-copy.ts'

/** A workspace made ready for one run. */
export interface PreparedWorkspace {
  /** The path the agent sees. */
  readonly path: string
  /** Where its files really are while the run lasts. */
  readonly source: string
  /** Brings back what changed, if the run worked on a copy. */
  finish(): Promise<Changes | undefined>
}

export type AgentUser = { readonly uid: number; readonly gid: number }

/** Opens the directory the task names, or makes its own; copies it if the agent's user could not write it. */
export async function prepareWorkspace(options: { path: string; own: boolean; scratch: string; user: AgentUser | undefined }): Promise<PreparedWorkspace> {
  const { path, own, user } = options
  if (own) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (user) await chown(path, user.uid, user.gid)
  }
  await assertUsable(path)
  if (!user || own || (await isWritableBy(path, user))) return { path, source: path, finish: async () => undefined }
  const copy = await copyWorkspace(path, options.scratch, user)
  return {
    path,
    source: copy.path,
    async finish() {
      const changes = await copy.bringBack()
      if (changes.conflicts.length === 0) await copy.remove()
      return changes
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
  if (!readable) throw new PawlError('invalid', `The workspace ${path} cannot be read by this user; change its permissions, or name another.`)
}

async function isWritableBy(path: string, user: AgentUser): Promise<boolean> {
  const found = await lstat(path)
  return found.uid === user.uid || (found.mode & 0o002) !== 0
}

/** Runs git in the workspace, inside the walls: the tree may be hostile and its configuration may start programs. Undefined if git fails. */
export type WalledGit = (args: readonly string[]) => Promise<string | undefined>

/** One line about what differs from the last commit, or undefined where there is no repository or nothing differs. */
export async function diffSummary(path: string, git: WalledGit): Promise<{ summary: string; files: number } | undefined> {
  const hasRepository = await stat(join(path, '.git')).then(
    () => true,
    () => false,
  )
  if (!hasRepository) return undefined
  const status = await git(['--no-optional-locks', 'status', '--porcelain', '--untracked-files=normal'])
  const lines = (status ?? '').split('\n').filter((line) => line !== '')
  if (lines.length === 0) return undefined
  const added = lines.filter((line) => line.startsWith('??')).length
  const tracked = lines.length > added ? await git(['diff', '--shortstat', '--no-ext-diff', '--no-textconv', 'HEAD']) : undefined
  const parts = [(tracked ?? '').trim(), added > 0 ? `${added} new` : ''].filter((part) => part !== '')
  return { summary: parts.join(', '), files: lines.length }
}
