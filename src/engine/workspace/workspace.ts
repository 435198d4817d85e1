import { access, constants, realpath, stat } from 'node:fs/promises'
import { hostPath, inPlace, type Shown, sandboxPath } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import { openDirectory } from '../../sandbox/files/directory-handle.ts'
import { walkTree } from '../../sandbox/files/walk-tree.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import type { Changes } from './bring-back.ts'
import { type ClonePlan, cloneWorkspace } from './clone.ts'
import { type CopyPlan, copyWorkspace } from './copy.ts'
import { assertNoHome } from './homes.ts'
import { leadsElsewhere, placeAt } from './same-place.ts'

/** A workspace made ready for one run. */
export interface PreparedWorkspace extends Shown {
  readonly mode: WorkspaceMode
  /** What the directory was when it was looked at, if the run works in it directly. */
  readonly mark?: string | undefined
  /** Where the record of what guards it belongs, if it is to move with the files. */
  readonly guardFile?: string | undefined
  /** What making it ready took, for the record of the run. */
  readonly cost?: string | undefined
  /** Brings back what changed, if the run worked on a copy. A last run's copy that could not all be brought back is kept apart from later runs. */
  finish(isLast: boolean): Promise<BroughtBack | undefined>
}

export interface BroughtBack extends Changes {
  /** Where the rest is, if not everything could be brought back. */
  readonly keptAt: string | undefined
  /** Where the work is, if it is meant to be elsewhere. */
  readonly told?: string | undefined
}

/** In the directory itself, in a copy from which changes are brought back, or in a clone with a branch of its own. */
export type WorkspaceMode = 'direct' | 'copy' | 'clone'

/** Opens the directory the task names, or its own, which is there; copies it if the agent's user could not write it. */
export async function prepareWorkspace(
  options: {
    path: string
    own: boolean
    allowHome?: boolean | undefined
    /** Left out: directly if the agent's user can write there, else in a copy. */
    mode?: WorkspaceMode | undefined
    /** Put the branch of a clone into the repository it was made from? */
    bringBackBranch?: boolean | undefined
    user: AgentUser | undefined
    /** Told before a copy is made: that may take a while. */
    onCopy: () => void
  } & Omit<CopyPlan, 'original' | 'owner'>,
): Promise<PreparedWorkspace> {
  const { path, own, allowHome, user, mode, bringBackBranch, onCopy, ...plan } = options
  if (!own) await assertUsable(path, { allowHome })
  const mark = own ? undefined : await placeAt(path)
  // Of the very folder that will be mounted, and nothing else.
  if (mark !== undefined) assertNoHome(path, { allowHome, called: 'workspace', mark })
  // One look, and not another at the path: between two it can be a folder, a link, and a folder again.
  if (!own && (process.platform === 'linux' ? mark === undefined : (await leadsElsewhere(path)) !== undefined))
    throw new PawlError(
      'invalid',
      `The workspace ${path} was a folder when the task was made, and is a link by now, or lies behind one; put the folder back, or make the task anew.`,
    )
  if (mode === 'clone' && !own) return prepareClone({ ...plan, original: path, owner: user, mark }, bringBackBranch ?? false)
  const isDirect = !user || own || (await isWritableBy(path, user))
  if (mode === 'direct' && !isDirect)
    throw new PawlError(
      'invalid',
      `The agent's user may not write everything in ${path}, so it cannot work there directly; leave --workspace-mode out, or name copy or clone.`,
    )
  if (isDirect && (own || mode !== 'copy')) return { ...inPlace(path), mode: 'direct', mark, finish: async () => undefined }
  onCopy()
  const copy = await copyWorkspace({ ...plan, original: path, owner: user ?? ownUser(), mark })
  return {
    path: sandboxPath(path),
    source: hostPath(copy.path),
    mode: 'copy',
    guardFile: copy.guardFile,
    cost:
      copy.cost &&
      `Copied ${copy.cost.files} ${copy.cost.files === 1 ? 'file' : 'files'} (${megabytes(copy.cost.bytes)}) in ${copy.cost.ms} ms.`,
    async finish(isLast) {
      const changes = await copy.bringBack()
      if (changes.conflicts.length + changes.failed.length > 0)
        return { ...changes, keptAt: isLast ? await copy.keep() : copy.path }
      await copy.remove()
      return { ...changes, keptAt: undefined }
    },
  }
}

async function prepareClone(plan: ClonePlan, bringBackBranch: boolean): Promise<PreparedWorkspace> {
  const startedAt = performance.now()
  const clone = await cloneWorkspace(plan)
  return {
    path: sandboxPath(plan.original),
    source: hostPath(clone.path),
    mode: 'clone',
    guardFile: clone.guardFile,
    cost: clone.isNew ? `Cloned in ${Math.round(performance.now() - startedAt)} ms.` : undefined,
    async finish(isLast) {
      const nothing = { added: [], changed: [], removed: [], conflicts: [], refused: [], failed: [], keptAt: clone.path }
      const where = `The work is in ${clone.path} on the branch ${clone.branch}`
      if (!isLast || !bringBackBranch) return { ...nothing, told: `${where}.` }
      const result = await clone.bringBranch()
      return result.brought
        ? { ...nothing, told: `The branch ${clone.branch} is in ${plan.original}.` }
        : { ...nothing, failed: [{ path: clone.branch, why: result.why }] }
    },
  }
}

const ownUser = (): AgentUser => ({ uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 })
const megabytes = (bytes: number) => `${(bytes / 1_000_000).toFixed(1)} MB`

/** Refuses, in a sentence, what cannot be worked in, and what nobody may be let into without a word of the user's. */
export async function assertUsable(path: string, { allowHome }: { allowHome?: boolean | undefined }): Promise<void> {
  const found = await stat(path).catch(() => undefined)
  if (!found) throw new PawlError('invalid', `The workspace ${path} does not exist; create it, or name another with --workspace.`)
  if (!found.isDirectory()) throw new PawlError('invalid', `The workspace ${path} is not a directory.`)
  const readable = await access(path, constants.R_OK | constants.X_OK).then(
    () => true,
    () => false,
  )
  if (!readable)
    throw new PawlError('invalid', `The workspace ${path} cannot be read by this user; change its permissions, or name another.`)
  assertNoHome(await realpath(path), { allowHome, called: 'workspace' })
}

/** Its own folder, or one that is open to all as far as a quick look shows: a file in it that the agent could not edit means a copy. */
async function isWritableBy(path: string, user: AgentUser): Promise<boolean> {
  const root = await openDirectory(path)
  if (!root) return false
  try {
    const found = await root.stat()
    if (found.uid === user.uid) return true
    if (!mayWrite(found, user)) return false
    let isClosed = false
    let seen = 0
    // What lies at the top says most.
    for (const step of ['past', 'in'] as const)
      await walkTree(root, ({ stats }) => {
        if (++seen > 200) return 'end'
        isClosed ||= (stats.isDirectory() || stats.isFile()) && !mayWrite(stats, user)
        return isClosed ? 'end' : step
      })
    return !isClosed
  } finally {
    await root.close()
  }
}

const mayWrite = (found: { uid: number; mode: number }, user: AgentUser) =>
  found.uid === user.uid ? (found.mode & 0o200) !== 0 : (found.mode & 0o002) !== 0
