import type { Clock } from '../../base/clock.ts'
import { type HostPath, hostPath, type SandboxPath, type Shown, sameInside } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import type { Walls } from '../port.ts'
import { realPath } from '../process/program.ts'
import { type Drop, dropTo, noDrop } from './drop.ts'
import { emptyFile } from './empty-file.ts'
import type { Identity } from './identity.ts'
import { layMasks, pinnedBy } from './masks.ts'
import { type Expected, expectedOf } from './mounted.ts'
import { enclosing, isBind, type Mount, planMounts } from './mounts.ts'
import { privateSettings, type SystemView, systemView } from './system.ts'

/** All that is seen inside, and the way to the user who sees it. */
export interface View {
  readonly mounts: readonly Mount[]
  /** What of it is to be looked at when it is laid. */
  readonly expected: readonly Expected[]
  readonly drop: Drop
  /** Bubblewrap's options, in their order. */
  readonly options: readonly string[]
  /** Folders inside that lie in memory and can be written. */
  readonly rooms: readonly string[]
}

export interface ViewRequest {
  readonly walls: Walls
  readonly user: Identity
  readonly workspace: Shown
  readonly home: HostPath
  readonly programs: readonly SandboxPath[]
  readonly searchPath: string
  readonly clock: Clock
}

export async function viewFor(asked: ViewRequest): Promise<View> {
  const { walls, user, workspace, home, programs, searchPath, clock } = asked
  if (workspace.path === '/')
    throw new PawlError('invalid', 'The root of the machine cannot be a workspace; name a folder in it.')
  const system = systemView(walls.network)
  const mounts = walls.mounts ?? []
  const masks = (walls.masks ?? []).map((mask) =>
    mask.kind === 'instead' ? { ...mask, source: realPath(mask.source, 'source of a mask') } : mask,
  )
  const request = {
    ...{ user, workspace, home, programs, mounts, system },
    hidden: [...walls.hidden, ...knownPrivateSettings(user, clock)],
    covered: walls.covered,
  }
  const writable = [workspace.path, sameInside(home), ...mounts.filter(({ mode }) => mode === 'rw').map(({ path }) => path)]
  const pinned = pinnedBy(masks, writable)
  const loose = planMounts({ ...request, pinned: [] })
  // Without pins first: it refuses what cannot be masked before anything is made of it.
  const masked = layMasks(loose, { masks, pinned: [], user })
  const laid = pinned.length === 0 ? masked : layMasks(planMounts({ ...request, pinned }), { masks, pinned, user })
  const empty = laid.some(({ kind }) => kind === 'emptyFile') ? emptyFile() : undefined
  // Not the sources of pins and masks: those lie in a workspace, where an agent can put a link at any moment.
  const instead = masks.flatMap((mask) => (mask.kind === 'instead' ? [mask.source] : []))
  const shown = loose.flatMap((mount) => (isBind(mount) ? [mount.source] : []))
  const sources = [...new Set([...shown, ...instead, ...(empty ? [empty] : [])])]
  const drop = process.getuid?.() === 0 ? await dropTo(user, sources, searchPath) : noDrop
  return {
    mounts: laid,
    expected: expectedOf(laid, system, empty),
    drop,
    rooms: [
      sharedMemory,
      ...laid.filter((mount) => mount.kind === 'scratch' && enclosing(mount.path, laid) === mount).map(({ path }) => path),
    ],
    options: [...devices(walls), ...laidOptions(laid, { drop, empty, walls }), ...linkOptions(system), '--remount-ro', '/'],
  }
}

const settingsLastMs = 60_000
let settings: { readonly uid: number; readonly at: number; readonly paths: readonly HostPath[] } | undefined

/** Going through /etc takes longer than all the rest of the plan, and it hardly ever changes. */
function knownPrivateSettings(user: Identity, clock: Clock): readonly HostPath[] {
  const at = clock.monotonic()
  if (settings?.uid !== user.uid || at - settings.at > settingsLastMs)
    settings = { uid: user.uid, at, paths: privateSettings(user) }
  return settings.paths
}

const sharedMemory = '/dev/shm'
const roomsBytes = 4 * 1024 ** 3
const pageBytes = 4096

/**
 * Rooms in memory are bounded, or filling them would fill the machine's: all of them together hold no more than the agent may take, and half of it is
 * where temporary files go. How many files they hold bubblewrap cannot bound (0.8.0): each is counted as a piece of the agent's memory.
 */
function roomOf(path: string, { limits }: Walls): string {
  const all = Math.min(roomsBytes, limits.memoryBytes ?? roomsBytes)
  // The kernel counts in pages, rounds up, and takes nothing for everything.
  return String(Math.max(1, Math.floor(all / (path === '/tmp' ? 2 : 6) / pageBytes)) * pageBytes)
}

function devices(walls: Walls): string[] {
  return [
    ...['--proc', '/proc', '--dev', '/dev'],
    ...['--perms', '1777', '--size', roomOf(sharedMemory, walls), '--tmpfs', sharedMemory, '--remount-ro', '/dev'],
    // The first process is bubblewrap's, of the same user: its memory could be written, and it be made to hang. It has nothing that the
    // agent has not, so where namespaces are nested it is left: a /proc with something laid over it cannot be mounted again inside.
    ...(walls.nestedNamespaces ? [] : ['--perms', '0555', '--tmpfs', '/proc/1', '--remount-ro', '/proc/1']),
  ]
}

const linkOptions = ({ links }: SystemView) => links.flatMap(({ path, target }) => ['--symlink', target, path])

interface Laying {
  readonly drop: Drop
  readonly empty: HostPath | undefined
  readonly walls: Walls
}

function laidOptions(mounts: readonly Mount[], { drop, empty, walls }: Laying): string[] {
  const { sourceOf } = drop
  const option = (mount: Mount): string[] => {
    switch (mount.kind) {
      case 'writable':
        return ['--bind', sourceOf(mount.source), mount.path]
      case 'readable':
        return ['--ro-bind', sourceOf(mount.source), mount.path]
      case 'scratch':
        return ['--perms', '1777', '--size', roomOf(mount.path, walls), '--tmpfs', mount.path]
      case 'empty':
        return ['--perms', '0755', '--tmpfs', mount.path]
      case 'emptyFile':
        return ['--ro-bind', sourceOf(empty ?? hostPath('/dev/null')), mount.path]
    }
  }
  // Closed only when all that lies in them has its place. What another mount covers by now is out of reach, and so is its path.
  const closing = mounts.filter((mount) => mount.kind === 'empty' && enclosing(mount.path, mounts) === mount)
  return [...mounts.flatMap(option), ...closing.flatMap(({ path }) => ['--remount-ro', path])]
}
