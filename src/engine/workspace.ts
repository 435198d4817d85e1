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
export async function prepareWorkspace(options: {
  path: string
  own: boolean
  scratch: string
  user: AgentUser | undefined
  without: string
}): Promise<PreparedWorkspace> {
  const { path, own, user } = options
  if (own) {
    await mkdir(path, { recursive: true, mode: 0o700 })
    if (user) await chown(path, user.uid, user.gid)
  }
  await assertUsable(path)
  if (!user || own || (await isWritableBy(path, user))) return { path, source: path, finish: async () => undefined }
  const copy = await copyWorkspace(path, options.scratch, user, options.without)
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
  if (!readable)
    throw new PawlError('invalid', `The workspace ${path} cannot be read by this user; change its permissions, or name another.`)
}

async function isWritableBy(path: string, user: AgentUser): Promise<boolean> {
  const found = await lstat(path)
  return found.uid === user.uid || (found.mode & 0o002) !== 0
}

/** Runs git in the workspace, inside the walls: the tree may be hostile and its configuration may start programs. Undefined if git fails. */
export type WalledGit = (args: readonly string[]) => Promise<string | undefined>

/** The state of each file that differs from the last commit: lines added and removed, or that it is new. */
export type RepositoryState = ReadonlyMap<string, { readonly added: number; readonly removed: number; readonly isNew: boolean }>

/** Undefined where there is no repository. */
export async function repositoryState(path: string, git: WalledGit): Promise<RepositoryState | undefined> {
  const hasRepository = await stat(join(path, '.git')).then(
    () => true,
    () => false,
  )
  if (!hasRepository) return undefined
  const [tracked, untracked] = await Promise.all([
    git(['--no-optional-locks', 'diff', '--numstat', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', 'HEAD']),
    git(['ls-files', '-z', '--others', '--exclude-standard']),
  ])
  const state = new Map<string, { added: number; removed: number; isNew: boolean }>()
  for (const line of (tracked ?? '').split('\0')) {
    const [added, removed, name] = line.split('\t')
    // A dash stands for a binary file.
    if (name !== undefined) state.set(name, { added: Number(added) || 0, removed: Number(removed) || 0, isNew: false })
  }
  for (const name of (untracked ?? '').split('\0')) if (name !== '') state.set(name, { added: 0, removed: 0, isNew: true })
  return state
}

/** What is different between two looks, in one line; undefined if nothing is. */
export function summarise(
  before: RepositoryState,
  after: RepositoryState | undefined,
): { summary: string; files: number } | undefined {
  if (!after) return undefined
  let [changed, fresh, added, removed] = [0, 0, 0, 0]
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(name)
    const is = after.get(name)
    if (was && is && was.added === is.added && was.removed === is.removed && was.isNew === is.isNew) continue
    if (is?.isNew) fresh++
    else changed++
    added += Math.max((is?.added ?? 0) - (was?.added ?? 0), 0)
    removed += Math.max((is?.removed ?? 0) - (was?.removed ?? 0), 0)
  }
  if (changed + fresh === 0) return undefined
  const parts = [changed > 0 ? `${changed} changed (+${added} -${removed})` : '', fresh > 0 ? `${fresh} new` : '']
  return { summary: parts.filter((part) => part !== '').join(', '), files: changed + fresh }
}
