import { lstatSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import {
  type HostPath,
  hostPath,
  isInside,
  liesAt,
  parentOf,
  pathIn,
  relativeTo,
  type SandboxPath,
  type Shown,
  sameInside,
  sandboxPath,
  seenAt,
  stepsOf,
  workspacePath,
} from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import type { Walls } from '../port.ts'
import { type Identity, mayExecute } from './identity.ts'
import { programRoots } from './programs.ts'
import type { SystemView } from './system.ts'

export type { Identity } from './identity.ts'

/** One thing that is seen inside: what lies at `source` outside is seen at `path`. What no mount shows is not there. */
export type Mount =
  | { readonly kind: 'writable' | 'readable'; readonly path: SandboxPath; readonly source: HostPath }
  /** Nothing, and nothing can be put there; or a room of its own, gone at the end. */
  | { readonly kind: 'empty' | 'emptyFile' | 'scratch'; readonly path: SandboxPath }
type Bind = Extract<Mount, { source: HostPath }>

export interface MountRequest {
  readonly user: Identity
  readonly system: SystemView
  readonly workspace: Shown
  readonly home: HostPath
  readonly mounts: NonNullable<Walls['mounts']>
  /** Paths that must not be seen; those that do not exist are left out. */
  readonly hidden: readonly HostPath[]
  /** The same, but a mount of that very path is laid over it. */
  readonly covered?: readonly HostPath[] | undefined
  /** Programs that must be there, wherever they lie. */
  readonly programs: readonly SandboxPath[]
  /** Directories that cannot be moved away, because something in them is masked. As seen inside. */
  readonly pinned: readonly SandboxPath[]
}

/**
 * What is seen inside, in the order in which it is laid; all paths that are asked for are real ones. The deeper path always lies over
 * the shallower one, so a workspace may be below a hidden directory and a hidden directory inside a workspace. A directory that the user
 * may not enter is covered by an empty one as soon as something below it has to be reachable; the user could not have seen its content anyway.
 */
export function planMounts(request: MountRequest): Mount[] {
  const { user, workspace, home, programs } = request
  const hidden = request.hidden.filter(exists).map((path) => hostPath(realpathSync(path)))
  const binds: Bind[] = [
    ...request.system.folders.map((path): Bind => ({ kind: 'readable', source: path, path: sameInside(path) })),
    ...withoutRepetition([
      { kind: 'writable', source: workspace.source, path: workspace.path },
      { kind: 'writable', source: home, path: sameInside(home) },
      ...request.mounts.map((mount) => asked(mount, request.system, hidden)),
    ]),
  ]
  const nothing = [...hidden, ...(request.covered ?? []).filter(exists)]
  const empty = [...new Set([...nothing.map(sameInside), ...binds.flatMap((bind) => hiddenBelow(bind, nothing))])]
  const wanted: Mount[] = [
    ...scratchFolders().map((path): Mount => ({ kind: 'scratch', path })),
    ...empty.map((path): Mount => ({ kind: 'empty', path })),
    ...binds,
  ]
  const first = layOver(wanted, user)
  const reserved = [workspace.source, hostPath(workspace.path), home, ...hidden]
  const missing = programs
    .filter((file) => !isVisible(file, first, user) || !isThere(file, first))
    .flatMap((file) => programRoots(hostPath(file), { user, reserved, temporary: scratchFolders() }))
    .map((path): Mount => ({ kind: 'readable', source: path, path: sameInside(path) }))
  const shown = missing.length === 0 ? first : layOver([...wanted, ...missing], user)
  const pins = request.pinned.flatMap((path): Mount[] => {
    const below = enclosing(path, shown)
    // Into a closed one nobody gets, so there is no mask in it either.
    const isReached =
      below?.kind === 'writable' &&
      below.path !== path &&
      closedBelow(pathIn(path, workspacePath('-')), below, user) === undefined
    return isReached ? [{ kind: 'writable', source: outsideOf(path, below), path }] : []
  })
  return pins.length === 0 ? shown : layOver([...wanted, ...missing, ...pins], user)
}

/** Is this path, as it is seen inside, one that the user can get to? */
export function isVisible(path: SandboxPath, mounts: readonly Mount[], user: Identity): boolean {
  const below = enclosing(path, mounts)
  return below !== undefined && isBind(below) && closedBelow(path, below, user) === undefined
}

/** A workspace may be a copy without some of its folders. */
function isThere(path: SandboxPath, mounts: readonly Mount[]): boolean {
  const below = enclosing(path, mounts)
  return below !== undefined && isBind(below) && exists(outsideOf(path, below))
}

/** What was laid last over this path or a directory above it. */
export const enclosing = (path: SandboxPath, mounts: readonly Mount[]) => mounts.findLast((mount) => isInside(mount.path, path))
export const isBind = (mount: Mount): mount is Bind => 'source' in mount

/** Where something lies outside that inside is seen below that mount. */
export function outsideOf(path: SandboxPath, below: Bind): HostPath {
  const outside = liesAt(below, path)
  if (outside === undefined) throw new Error(`${path} is not below ${below.path}`)
  return outside
}

/** Rooms that each walls have for themselves. */
export const scratchFolders = () =>
  [...new Set([exists('/tmp') ? realpathSync('/tmp') : '/tmp', '/var/tmp', '/run'])].map(sandboxPath)

function layOver(wanted: readonly Mount[], user: Identity): Mount[] {
  const mounts: Mount[] = []
  for (const mount of wanted.toSorted(byDepth)) {
    const below = enclosing(mount.path, mounts)
    const closed = below && isBind(below) ? closedBelow(mount.path, below, user) : undefined
    if (mount.kind === 'scratch') {
      mounts.push(mount)
    } else if (isBind(mount)) {
      if (closed !== undefined) mounts.push({ kind: 'empty', path: closed })
      else if (below && isBind(below)) refuseMissing(mount, below)
      mounts.push(mount)
    } else if (below && isBind(below) && closed === undefined && exists(outsideOf(mount.path, below))) {
      mounts.push({ kind: statSync(outsideOf(mount.path, below)).isDirectory() ? 'empty' : 'emptyFile', path: mount.path })
    }
  }
  return mounts.toSorted(byDepth)
}

/** Bubblewrap would make a place for it in the directory below, which is the user's own and stays. */
function refuseMissing(mount: Bind, below: Bind): void {
  if (mount.path === below.path) return
  const outside = outsideOf(mount.path, below)
  const place = linkOnTheWay(outside, below.source) === undefined ? lstatSync(outside, { throwIfNoEntry: false }) : undefined
  if (place?.isDirectory() === statSync(mount.source).isDirectory()) return
  throw new PawlError(
    'invalid',
    `"${mount.source}" cannot be shown at "${mount.path}": ${place ? 'something of another kind is there' : `there is no such place in "${below.path}"`}; create it, or name a path outside of "${below.path}".`,
  )
}

/** The first link on the way from a directory to something in it. A mount would follow it, to somewhere else. */
export function linkOnTheWay(path: HostPath, from: HostPath): HostPath | undefined {
  let at = from
  const below = relativeTo(from, path)
  for (const step of below === undefined ? [] : stepsOf(below)) {
    at = pathIn(at, workspacePath(step))
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return at
  }
  return undefined
}

/** The first directory between a mount and something in it that the user may not enter. */
export function closedBelow(path: SandboxPath, below: Bind, user: Identity): SandboxPath | undefined {
  const onTheWay: SandboxPath[] = []
  for (let dir = parentOf(path); dir.length > below.path.length; dir = parentOf(dir)) onTheWay.unshift(dir)
  return onTheWay.find((dir) => {
    const outside = outsideOf(dir, below)
    return exists(outside) && !mayExecute(outside, user)
  })
}

function asked(mount: NonNullable<Walls['mounts']>[number], system: SystemView, hidden: readonly HostPath[]): Bind {
  const { path } = mount
  const refuse = (why: string) => new PawlError('invalid', `The mount of "${mount.source}" at "${path}" is refused: ${why}`)
  if (!path.startsWith('/') || join(path, '.') !== path) throw refuse('the path is not absolute and plain.')
  const taken = ['/proc', '/dev', '/sys', ...system.links.map((link) => link.path)].map(sandboxPath)
  if (path === '/' || system.folders.map(sameInside).includes(path) || taken.some((own) => isInside(own, path)))
    throw refuse('that place belongs to the walls; name another path.')
  if (!exists(mount.source)) throw refuse('there is nothing at the source; create it, or take the mount out of the profile.')
  const source = hostPath(realpathSync(mount.source))
  if (hidden.includes(source)) throw refuse('it is what Pawl itself keeps, which no agent may see.')
  return { kind: mount.mode === 'rw' ? 'writable' : 'readable', source, path }
}

/** One path is laid once. Writable if anybody asked for that. */
function withoutRepetition(binds: readonly Bind[]): Bind[] {
  const byPath = new Map<string, Bind>()
  for (const bind of binds) {
    const other = byPath.get(bind.path)
    if (other && other.source !== bind.source) {
      throw new PawlError(
        'invalid',
        `Both "${other.source}" and "${bind.source}" are to be seen at "${bind.path}"; give one of them another path.`,
      )
    }
    if (!other || bind.kind === 'writable') byPath.set(bind.path, bind)
  }
  return [...byPath.values()]
}

/** What is hidden stays so where its directory is shown under another path. */
const hiddenBelow = (bind: Bind, hidden: readonly HostPath[]): SandboxPath[] =>
  bind.path === sameInside(bind.source) ? [] : hidden.flatMap((secret) => seenAt(bind, secret) ?? [])

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
const depth = (path: string) => path.split('/').filter(Boolean).length
const byDepth = (a: Mount, b: Mount) => depth(a.path) - depth(b.path) || Number(isBind(a)) - Number(isBind(b))
