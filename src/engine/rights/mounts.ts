import { chown, mkdir, realpath, stat } from 'node:fs/promises'
import { isWithin } from '../../domain/profile/mounts.ts'
import type { Profile, ProfileMount } from '../../domain/profile/profile.ts'
import { isOfTask } from '../../domain/profile/restrict.ts'
import type { AgentUser } from '../../process/agent-user.ts'
import { RunFailure } from '../failure.ts'

export interface ReadyMounts {
  /** In the order in which they are laid over each other; sources are real places, links followed. */
  readonly mounts: readonly { readonly source: string; readonly path: string; readonly mode: 'ro' | 'rw' }[]
  /** What the agent is told of. */
  readonly there: readonly ProfileMount[]
  /** Optional ones that are not there: the run goes on without them, and says so. */
  readonly missing: readonly ProfileMount[]
}

export interface MountPlace {
  /** Our own home and the like. */
  readonly ours: readonly string[]
  readonly workspace?: string | undefined
  /** Whom the agent becomes, if not us. */
  readonly user?: AgentUser | undefined
  /** Do walls hold? */
  readonly enforced: boolean
}

/**
 * The mounts of a profile as they are on this machine, right before the walls are built. A required one that is missing ends the run here, with its name; so does one
 * that would show what is ours, or the workspace a second time: `ours` are our own home and the like. `user` is whom the agent becomes, if not us.
 */
export async function readyMounts(
  { name, mounts }: Pick<Profile, 'name' | 'mounts'>,
  { ours, workspace, user, enforced }: MountPlace,
): Promise<ReadyMounts> {
  const found: ReadyMounts['mounts'][number][] = []
  const there: ProfileMount[] = []
  const missing: ProfileMount[] = []
  const hidden = await Promise.all(ours.map((path) => realpath(path).catch(() => path)))
  for (const mount of mounts) {
    const source = await sourceOf(mount, user)
    if (source === undefined) {
      if (mount.required)
        throw new RunFailure(
          'workspace_error',
          `${described(mount, name)} does not exist; make it, or mark it "required: false".`,
        )
      missing.push(mount)
      continue
    }
    if (isOfTask(mount) && source !== mount.source)
      throw new RunFailure(
        'workspace_error',
        `${described(mount, name)} was a folder when the task was made, and is a link by now, or lies behind one; put the folder back, or make the task anew.`,
      )
    if (hidden.some((path) => isWithin(path, source) || isWithin(source, path)))
      throw new RunFailure(
        'workspace_error',
        `${described(mount, name)} would show Pawl's own files to the agent; mount something else.`,
      )
    if (!enforced && mount.path !== mount.source)
      throw new RunFailure(
        'sandbox_error',
        `${described(mount, name)} cannot be shown at ${mount.path} without walls, and none hold here; mount it at its own path, or build walls ("pawl doctor").`,
      )
    there.push(mount)
    // Part of the workspace is there already; seen a second time it would lie open, past what covers the first.
    if (workspace !== undefined && isWithin(source, workspace) && mount.path === mount.source) continue
    if (workspace !== undefined && (isWithin(workspace, source) || isWithin(source, workspace)))
      throw new RunFailure(
        'workspace_error',
        `${described(mount, name)} would show the workspace ${workspace} a second time; mount something beside it.`,
      )
    found.push({ source, path: mount.path, mode: mount.mode })
  }
  return { mounts: found, there, missing }
}

async function sourceOf({ source, persistent }: ProfileMount, user: AgentUser | undefined): Promise<string | undefined> {
  // One that is there belongs to somebody; only what we made ourselves is given to the agent's user.
  const made = persistent ? await mkdir(source, { recursive: true }) : undefined
  if (made !== undefined && user) await chown(source, user.uid, user.gid)
  try {
    const real = await realpath(source)
    await stat(real)
    return real
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined
    throw error
  }
}

const described = (mount: ProfileMount, profile: string) => `The mount "${mount.name}" of profile "${profile}", ${mount.source},`
