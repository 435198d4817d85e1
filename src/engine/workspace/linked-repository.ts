import { lstatSync } from 'node:fs'
import { realpath, stat } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { openDirectory } from '../../files/directory-handle.ts'
import type { AgentUser } from '../../process/agent-user.ts'
import type { Walls } from '../../sandbox.ts'
import { readRegular } from './capture.ts'
import { cleanGitConfig } from './git-config.ts'
import type { PlannedMask } from './masks.ts'

/** What a worktree needs of the repository it belongs to, which lies outside of the workspace. */
export interface LinkedRepository {
  readonly mounts: NonNullable<Walls['mounts']>
  readonly masks: readonly PlannedMask[]
  /** What does not work, for the record of the run. */
  readonly note: string | undefined
}

/**
 * Commits of a worktree go into its repository, so objects, branches and the worktree's own state there are writable; all else of it is read-only, its
 * settings are cleaned and its hooks are not there. A pointer counts only if the repository points back: anybody can write `gitdir: /somewhere`.
 * Where the agent is another user than the owner of the repository, it can be read but not committed to.
 */
export async function linkedRepository(
  workspace: { readonly source: string; readonly path: string },
  user: AgentUser | undefined,
): Promise<LinkedRepository | undefined> {
  const pointer = await smallFile(join(workspace.source, '.git'))
  const named = /^gitdir: ([^\n\0]+)\n?$/.exec(pointer ?? '')?.[1]
  if (named === undefined) return undefined
  const without: LinkedRepository = {
    mounts: [],
    masks: [],
    note: `The repository of ${workspace.path} lies elsewhere, so git does not work inside; --workspace-mode clone gives the agent one of its own.`,
  }
  const gitdir = await realpath(resolve(workspace.path, named)).catch(() => undefined)
  if (gitdir === undefined || gitdir.startsWith(`${workspace.path}/`)) return gitdir === undefined ? without : undefined
  const common = dirname(dirname(gitdir))
  const back = (await smallFile(join(gitdir, 'gitdir')))?.trim()
  const isMutual = back !== undefined && (await isSame(back, join(workspace.path, '.git')))
  if (!isMutual || basename(dirname(gitdir)) !== 'worktrees' || (await smallFile(join(gitdir, 'commondir')))?.trim() !== '../..')
    return without

  const isOwner = user === undefined || (await stat(common)).uid === user.uid
  const writable: string[] = []
  for (const path of [join(common, 'objects'), join(common, 'refs'), join(common, 'logs'), gitdir])
    if (isOwner && (await stat(path).catch(() => undefined))?.isDirectory()) writable.push(path)
  const masks: PlannedMask[] = []
  for (const path of [join(common, 'config'), join(common, 'config.worktree'), join(gitdir, 'config.worktree')]) {
    const text = await smallFile(path)
    if (text !== undefined) masks.push({ kind: 'text', path, text: cleanGitConfig(text).text })
  }
  if (await stat(join(common, 'hooks')).catch(() => undefined)) masks.push({ kind: 'nothing', path: join(common, 'hooks') })
  for (const path of ['commondir', 'gitdir']) masks.push({ kind: 'readonly', path: join(gitdir, path) })
  return {
    mounts: [
      { source: common, path: common, mode: 'ro' },
      ...writable.map((path) => ({ source: path, path, mode: 'rw' as const })),
    ],
    masks,
    note: isOwner
      ? undefined
      : `The agent's user cannot commit to ${common}, to which this worktree belongs; --workspace-mode clone gives it a repository of its own.`,
  }
}

const isSame = async (a: string, b: string) => {
  const [one, other] = await Promise.all([a, b].map((path) => realpath(path).catch(() => undefined)))
  return one !== undefined && one === other
}

/** Whatever the path leads to was chosen by others, so nothing but a regular file behind real folders is read. */
async function smallFile(path: string): Promise<string | undefined> {
  const folder = await openDirectory(dirname(path))
  try {
    if (!folder || !lstatSync(folder.at(basename(path)), { throwIfNoEntry: false })?.isFile()) return undefined
    return (await readRegular(folder, basename(path)))?.toString('utf8')
  } finally {
    await folder?.close()
  }
}
