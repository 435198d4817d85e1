import { lstatSync, readdirSync } from 'node:fs'
import { realpath } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { type HostPath, hostPath, inPlace, isBelow, parentOf, type Shown, sandboxPath } from '../../domain/base/path.ts'
import { readRegularAt } from '../../sandbox/files/read-file.ts'
import type { Mask, Walls } from '../../sandbox/port.ts'
import { mostCodeBytes } from './capture.ts'
import { placeAt } from './same-place.ts'

/** The repository that a worktree belongs to, which lies outside of the workspace. */
export interface LinkedRepository {
  readonly common: HostPath
  /** What belongs to this worktree alone. */
  readonly tree: HostPath
  readonly mounts: NonNullable<Walls['mounts']>
  readonly masks: readonly Mask[]
}

/**
 * Of such a repository nothing is seen inside but its objects: over the folder that belongs to the worktree lies a git directory of the agent's own. Git of ours, which works without
 * masks, sees all of it. A pointer counts only if the repository points back: anybody can write `gitdir: /somewhere`. `note` says why there is none.
 */
export async function linkedRepository(workspace: Shown): Promise<LinkedRepository | { readonly note: string } | undefined> {
  const pointer = await smallFile(join(workspace.source, '.git'))
  const named = /^gitdir: ([^\n\0]+)\n?$/.exec(pointer ?? '')?.[1]
  if (named === undefined) return undefined
  const without = {
    note: `The repository of ${workspace.path} lies elsewhere, so git does not work inside; --workspace-mode clone gives the agent one of its own.`,
  }
  // What it names is of the user's own folder, of which this may be a copy.
  const tree = await realpath(resolve(workspace.path, named)).then(hostPath, () => undefined)
  if (tree === undefined || isBelow(hostPath(workspace.path), tree)) return tree === undefined ? without : undefined
  const common = parentOf(parentOf(tree))
  const back = (await smallFile(join(tree, 'gitdir')))?.trim()
  const isMutual = back !== undefined && (await isSame(back, join(workspace.path, '.git')))
  if (!isMutual || basename(dirname(tree)) !== 'worktrees' || (await smallFile(join(tree, 'commondir')))?.trim() !== '../..')
    return without
  const mark = await placeAt(common)
  if (mark === undefined && process.platform === 'linux') return without
  const hidden = [
    ...readdirSync(common).filter((name) => name !== 'worktrees' && name !== 'objects'),
    ...readdirSync(join(common, 'worktrees')).flatMap((id) => (id === basename(tree) ? [] : [`worktrees/${id}`])),
  ].map((name) => join(common, name))
  return {
    common,
    tree,
    mounts: [{ ...inPlace(common), mode: 'ro', ...(mark === undefined ? {} : { mark }) }],
    masks: hidden
      .filter((path) => !lstatSync(path, { throwIfNoEntry: false })?.isSymbolicLink())
      .map((path) => ({ kind: 'nothing', path: sandboxPath(path) })),
  }
}

const isSame = async (a: string, b: string) => {
  const [one, other] = await Promise.all([a, b].map((path) => realpath(path).catch(() => undefined)))
  return one !== undefined && one === other
}

/** Whatever the path leads to was chosen by others, so nothing but a regular file behind real folders is read. */
const smallFile = async (path: string): Promise<string | undefined> =>
  (await readRegularAt(path, mostCodeBytes))?.toString('utf8')
