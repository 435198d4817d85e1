import { lstatSync } from 'node:fs'
import { mkdir, realpath, stat } from 'node:fs/promises'
import { type HostPath, hostPath, isInside, relativeTo, sandboxPath } from '../../domain/base/path.ts'
import type { Profile, ProfileMount } from '../../domain/profile/profile.ts'
import { isOfTask } from '../../domain/profile/restrict.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import { openDirectory } from '../../sandbox/files/directory-handle.ts'
import { makeFolders } from '../../sandbox/files/make-folders.ts'
import type { Walls } from '../../sandbox/port.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { RunFailure } from '../base/failure.ts'
import { coveredNote, coverMounts, listed } from '../workspace/cover.ts'
import { credentialsAbove } from '../workspace/credentials.ts'
import { placeAt } from '../workspace/same-place.ts'

export interface ReadyMounts {
  /** In the order in which they are laid over each other; sources are real places, links followed. */
  readonly mounts: NonNullable<Walls['mounts']>
  /** What the agent is told of. */
  readonly there: readonly ProfileMount[]
  /** Optional ones that are not there, or cannot be shown: the run goes on without them, and says so. */
  readonly leftOut: readonly { readonly mount: ProfileMount; readonly why: string }[]
  /** Below the mounts: what lets somebody in somewhere, and no mount names. */
  readonly covered: readonly HostPath[]
  /** The sources of all of them, those in the workspace as well. */
  readonly sources: readonly HostPath[]
  /** What the reader of the run should know of what is covered. */
  readonly notes: readonly string[]
}

export interface MountPlace {
  /** Our own home and the like. */
  readonly ours: readonly string[]
  /** The folder of the user that the task names, also where the run works on a copy of it. */
  readonly workspace?: string | undefined
  /** Whom the agent becomes, if not us. */
  readonly user?: AgentUser | undefined
  /** Do walls hold? */
  readonly enforced: boolean
  /** What is looked for below the mounts. */
  readonly codePaths: readonly CodePath[]
}

/**
 * The mounts of a profile as they are on this machine, right before the walls are built. A required one that is missing ends the run here, with its name; so does one
 * that would show what is ours, or the workspace a second time: `ours` are our own home and the like. An optional one is left out instead. `user` is whom the agent
 * becomes, if not us.
 */
export async function readyMounts({ name, mounts }: Pick<Profile, 'name' | 'mounts'>, place: MountPlace): Promise<ReadyMounts> {
  const found: ReadyMounts['mounts'][number][] = []
  const there: ProfileMount[] = []
  const leftOut: ReadyMounts['leftOut'][number][] = []
  const sources: HostPath[] = []
  if (mounts.length === 0) return { mounts: found, there, leftOut, covered: [], sources, notes: [] }
  const ours = (await Promise.all(place.ours.map((path) => realpath(path).catch(() => path)))).map(hostPath)
  const workspace = place.workspace === undefined ? undefined : hostPath(place.workspace)
  const isOfWorkspace = (source: HostPath) => workspace !== undefined && isInside(workspace, source)
  for (const mount of mounts) {
    const source = await sourceOf(mount, { user: place.user, workspace })
    const mark = source !== undefined && isOfTask(mount) ? await placeAt(source, 'file or folder') : undefined
    const fault =
      mark === undefined && source !== undefined && isOfTask(mount) && process.platform === 'linux'
        ? exchanged
        : faultOf(mount, source, { enforced: place.enforced, ours, workspace })
    if (fault || source === undefined) {
      const { category, why } = fault ?? missing
      const sentence = `${described(mount, name)} ${why}`
      if (mount.required) throw new RunFailure(category, `${sentence}.`)
      leftOut.push({ mount, why: sentence })
      continue
    }
    there.push(mount)
    sources.push(source)
    // Part of the workspace is there already; seen a second time it would lie open, past what covers the first. What is covered there as a whole is meant to be seen.
    if (isOfWorkspace(source) && mount.path === mount.source && credentialsAbove(source) === undefined) continue
    const laid = { source, mode: mount.mode, ...(mark === undefined ? {} : { mark }) }
    found.push({ ...laid, path: sandboxPath(mount.path) })
    if (mount.alias !== undefined && place.enforced) found.push({ ...laid, path: sandboxPath(mount.alias) })
  }
  const { paths: covered, notLookedThrough } = place.enforced
    ? await coverMounts(
        sources.filter((source) => !isOfWorkspace(source)),
        place.codePaths,
      )
    : { paths: [], notLookedThrough: [] }
  return { mounts: found, there, leftOut, covered, sources, notes: notesOf(covered, notLookedThrough) }
}

const notesOf = (covered: readonly string[], notLookedThrough: readonly string[]) => [
  ...(covered.length > 0 ? [coveredNote(covered)] : []),
  ...(notLookedThrough.length > 0
    ? [`Too large to be looked through for keys and logins: ${listed(notLookedThrough)}. What was found in the time is covered.`]
    : []),
]

interface MountFault {
  readonly category: 'workspace_error' | 'sandbox_error'
  /** The end of a sentence. */
  readonly why: string
}

const exchanged: MountFault = {
  category: 'workspace_error',
  why: 'was a folder when the task was made, and is a link by now, or lies behind one; put the folder back, or make the task anew',
}

const missing: MountFault = { category: 'workspace_error', why: 'does not exist; make it, or mark it "required: false"' }

interface RealPlace extends Pick<MountPlace, 'enforced'> {
  readonly ours: readonly HostPath[]
  readonly workspace: HostPath | undefined
}

function faultOf(mount: ProfileMount, source: HostPath | undefined, place: RealPlace): MountFault | undefined {
  if (source === undefined) return missing
  const wrong = (why: string): MountFault => ({ category: 'workspace_error', why })
  const { ours, workspace } = place
  if (workspace !== undefined && isInside(workspace, hostPath(mount.source)) && source !== hostPath(mount.source))
    return wrong('is a link, or lies behind one, in a workspace that agents can write; name the folder itself')
  if (isOfTask(mount) && source !== hostPath(mount.source)) return exchanged
  if (ours.some((path) => isInside(source, path) || isInside(path, source)))
    return wrong("would show Pawl's own files to the agent; mount something else")
  if (!place.enforced && mount.path !== mount.source)
    return {
      category: 'sandbox_error',
      why: `cannot be shown at ${mount.path} without walls, and none hold here; mount it at its own path, or build walls ("pawl doctor")`,
    }
  if (workspace === undefined || (isInside(workspace, source) && mount.path === mount.source)) return undefined
  if (isInside(source, workspace) || isInside(workspace, source))
    return wrong(`would show the workspace ${workspace} a second time; mount something beside it`)
  return undefined
}

async function sourceOf(
  { source, persistent }: ProfileMount,
  { user, workspace }: Pick<MountPlace, 'user'> & Pick<RealPlace, 'workspace'>,
): Promise<HostPath | undefined> {
  // One that is there belongs to somebody; only what we made ourselves is given to the agent's user.
  const made = persistent ? await makeSource(source, workspace) : undefined
  if (made !== undefined && user) {
    // By its handle: an agent that works in the folder above it could have put a link in its place.
    const folder = await openDirectory(source)
    if (!folder) return undefined
    await folder.chown(user.uid, user.gid)
    await folder.close()
  }
  try {
    const real = hostPath(await realpath(source))
    await stat(real)
    return real
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return undefined
    throw error
  }
}

/** The first folder that had to be made, if any. */
async function makeSource(source: string, workspace: HostPath | undefined): Promise<string | undefined> {
  const below = workspace === undefined ? undefined : relativeTo(workspace, hostPath(source))
  if (workspace === undefined || below === undefined) return mkdir(source, { recursive: true })
  if (lstatSync(source, { throwIfNoEntry: false })) return undefined
  // An agent may have put a link anywhere in there.
  const folder = await makeFolders(workspace, below).catch(() => undefined)
  await folder?.close()
  return folder && source
}

const described = ({ name, source, from }: ProfileMount, profile: string) =>
  `The mount "${name}" of ${whose[from ?? 'profile']}${from === undefined ? ` "${profile}"` : ''}, ${source},`
const whose = { profile: 'profile', user: 'the user', task: 'the task' }
