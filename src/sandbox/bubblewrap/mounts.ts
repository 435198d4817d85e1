import { lstatSync, realpathSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'
import { PawlError } from '../../domain/error.ts'
import type { Walls } from '../port.ts'
import { type Identity, mayExecute } from './identity.ts'
import { programRoots } from './programs.ts'
import type { SystemView } from './system.ts'

export type { Identity } from './identity.ts'

/** One thing that is seen inside: what lies at `source` outside is seen at `path`. What no mount shows is not there. */
export type Mount =
  | { readonly kind: 'writable' | 'readable'; readonly path: string; readonly source: string }
  /** Nothing, and nothing can be put there; or a room of its own, gone at the end. */
  | { readonly kind: 'empty' | 'emptyFile' | 'scratch'; readonly path: string }
type Bind = Extract<Mount, { source: string }>

export interface MountRequest {
  readonly user: Identity
  readonly system: SystemView
  readonly workspace: { readonly source: string; readonly path: string }
  readonly home: string
  readonly mounts: NonNullable<Walls['mounts']>
  /** Paths that must not be seen; those that do not exist are left out. */
  readonly hidden: readonly string[]
  /** The same, but a mount of that very path is laid over it. */
  readonly covered?: readonly string[] | undefined
  /** Programs that must be there, wherever they lie. */
  readonly programs: readonly string[]
  /** Directories that cannot be moved away, because something in them is masked. As seen inside. */
  readonly pinned: readonly string[]
}

/**
 * What is seen inside, in the order in which it is laid; all paths that are asked for are real ones. The deeper path always lies over
 * the shallower one, so a workspace may be below a hidden directory and a hidden directory inside a workspace. A directory that the user
 * may not enter is covered by an empty one as soon as something below it has to be reachable; the user could not have seen its content anyway.
 */
export function planMounts(request: MountRequest): Mount[] {
  const { user, workspace, home, programs } = request
  const hidden = request.hidden.filter(exists).map((path) => realpathSync(path))
  const binds: Bind[] = [
    ...request.system.folders.map((path): Bind => ({ kind: 'readable', source: path, path })),
    ...withoutRepetition([
      { kind: 'writable', ...workspace },
      { kind: 'writable', source: home, path: home },
      ...request.mounts.map((mount) => asked(mount, request.system, hidden)),
    ]),
  ]
  const nothing = [...hidden, ...(request.covered ?? []).filter(exists)]
  const empty = [...new Set([...nothing, ...binds.flatMap((bind) => hiddenBelow(bind, nothing))])]
  const wanted: Mount[] = [
    ...scratchFolders().map((path): Mount => ({ kind: 'scratch', path })),
    ...empty.map((path): Mount => ({ kind: 'empty', path })),
    ...binds,
  ]
  const first = layOver(wanted, user)
  const reserved = [workspace.source, workspace.path, home, ...hidden]
  const missing = programs
    .filter((file) => !isVisible(file, first, user) || !isThere(file, first))
    .flatMap((file) => programRoots(file, { user, reserved, temporary: scratchFolders() }))
    .map((path): Mount => ({ kind: 'readable', source: path, path }))
  const shown = missing.length === 0 ? first : layOver([...wanted, ...missing], user)
  const pins = request.pinned.flatMap((path): Mount[] => {
    const below = enclosing(path, shown)
    // Into a closed one nobody gets, so there is no mask in it either.
    const isReached = below?.kind === 'writable' && below.path !== path && closedBelow(join(path, '-'), below, user) === undefined
    return isReached ? [{ kind: 'writable', source: outsideOf(path, below), path }] : []
  })
  return pins.length === 0 ? shown : layOver([...wanted, ...missing, ...pins], user)
}

/** Is this path, as it is seen inside, one that the user can get to? */
export function isVisible(path: string, mounts: readonly Mount[], user: Identity): boolean {
  const below = enclosing(path, mounts)
  return below !== undefined && isBind(below) && closedBelow(path, below, user) === undefined
}

/** A workspace may be a copy without some of its folders. */
function isThere(path: string, mounts: readonly Mount[]): boolean {
  const below = enclosing(path, mounts)
  return below !== undefined && isBind(below) && exists(outsideOf(path, below))
}

/** What was laid last over this path or a directory above it. */
export const enclosing = (path: string, mounts: readonly Mount[]) => mounts.findLast((mount) => isWithin(path, mount.path))
export const isWithin = (path: string, parent: string) => path === parent || path.startsWith(parent === '/' ? '/' : `${parent}/`)
export const isBind = (mount: Mount): mount is Bind => 'source' in mount

/** Where something lies outside that inside is seen below that mount. */
export const outsideOf = (path: string, below: Bind) => join(below.source, relative(below.path, path))

/** Rooms that each walls have for themselves. */
export const scratchFolders = () => [...new Set([exists('/tmp') ? realpathSync('/tmp') : '/tmp', '/var/tmp', '/run'])]

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
export function linkOnTheWay(path: string, from: string): string | undefined {
  let at = from
  for (const step of relative(from, path).split('/').filter(Boolean)) {
    at = join(at, step)
    if (lstatSync(at, { throwIfNoEntry: false })?.isSymbolicLink()) return at
  }
  return undefined
}

/** The first directory between a mount and something in it that the user may not enter. */
export function closedBelow(path: string, below: Bind, user: Identity): string | undefined {
  const onTheWay: string[] = []
  for (let dir = dirname(path); dir.length > below.path.length; dir = dirname(dir)) onTheWay.unshift(dir)
  return onTheWay.find((dir) => {
    const outside = outsideOf(dir, below)
    return exists(outside) && !mayExecute(outside, user)
  })
}

function asked(mount: NonNullable<Walls['mounts']>[number], system: SystemView, hidden: readonly string[]): Bind {
  const { path } = mount
  const refuse = (why: string) => new PawlError('invalid', `The mount of "${mount.source}" at "${path}" is refused: ${why}`)
  if (!path.startsWith('/') || join(path, '.') !== path) throw refuse('the path is not absolute and plain.')
  const taken = ['/proc', '/dev', '/sys', ...system.links.map((link) => link.path)]
  if (path === '/' || system.folders.includes(path) || taken.some((own) => isWithin(path, own)))
    throw refuse('that place belongs to the walls; name another path.')
  if (!exists(mount.source)) throw refuse('there is nothing at the source; create it, or take the mount out of the profile.')
  const source = realpathSync(mount.source)
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
const hiddenBelow = ({ source, path }: Bind, hidden: readonly string[]) =>
  source === path ? [] : hidden.filter((secret) => isWithin(secret, source)).map((secret) => join(path, relative(source, secret)))

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
const depth = (path: string) => path.split('/').filter(Boolean).length
const byDepth = (a: Mount, b: Mount) => depth(a.path) - depth(b.path) || Number(isBind(a)) - Number(isBind(b))
