import { realpathSync, statSync } from 'node:fs'
import { dirname, join, relative } from 'node:path'

export interface Identity {
  readonly uid: number
  readonly gid: number
}

/** One thing laid over the read-only system: what lies at `source` outside is seen at `path` inside. */
export type Mount =
  | { readonly kind: 'writable' | 'readable'; readonly path: string; readonly source: string }
  | { readonly kind: 'empty' | 'emptyFile'; readonly path: string }

export interface MountRequest {
  readonly user: Identity
  readonly writable: readonly { readonly source: string; readonly path: string }[]
  /** Paths that must not be seen; those that do not exist are left out. */
  readonly hidden: readonly string[]
  /** Programs that must be there, wherever they lie. */
  readonly programs: readonly string[]
}

/**
 * What to lay over the system, in order; all paths that are asked for are real ones. The deeper path always lies over the shallower
 * one, so a workspace may be below a hidden directory and a hidden directory inside a workspace. A directory that the user may not
 * enter is covered by an empty one as soon as something below it has to be reachable; the user could not have seen its content anyway.
 */
export function planMounts(request: MountRequest): Mount[] {
  const { user, programs } = request
  const asked: Mount[] = [
    { kind: 'empty', path: temporary() },
    ...request.hidden.filter(exists).map((path): Mount => ({ kind: 'empty', path: realpathSync(path) })),
    ...request.writable.map(({ source, path }): Mount => ({ kind: 'writable', source, path })),
  ]
  const mounts = layOver(asked, user)
  const missing = programs.filter((file) => !isVisible(file, mounts, user)).map((file) => programRoot(file, user))
  if (missing.length === 0) return mounts
  return layOver([...asked, ...missing.map((path): Mount => ({ kind: 'readable', source: path, path }))], user)
}

/** Is this path, as it is seen inside, one that the user can get to? */
export function isVisible(path: string, mounts: readonly Mount[], user: Identity): boolean {
  const below = enclosing(path, mounts)
  return !(below && isEmpty(below)) && closedOnTheWay(path, below, user) === undefined
}

/** The first directory on the way to `path` that the user may not enter. */
export const closedAncestor = (path: string, user: Identity) => closedOnTheWay(path, undefined, user)

/** May the user execute this file, or enter this directory? Access lists beyond the mode are not looked at. */
export function mayExecute(path: string, user: Identity): boolean {
  const stats = statSync(path)
  const shift = stats.uid === user.uid ? 6 : stats.gid === user.gid ? 3 : 0
  return ((stats.mode >> shift) & 1) !== 0
}

export const temporary = () => realpathSync('/tmp')

function layOver(asked: readonly Mount[], user: Identity): Mount[] {
  const mounts: Mount[] = []
  for (const mount of asked.toSorted(byDepth)) {
    const below = enclosing(mount.path, mounts)
    if (isEmpty(mount)) {
      const outside = outsideOf(mount.path, below)
      if ((below && isEmpty(below)) || !exists(outside) || closedOnTheWay(mount.path, below, user)) continue
      mounts.push({ kind: statSync(outside).isDirectory() ? 'empty' : 'emptyFile', path: mount.path })
    } else {
      const closed = below && isEmpty(below) ? undefined : closedOnTheWay(mount.path, below, user)
      if (closed !== undefined) mounts.push({ kind: 'empty', path: closed })
      mounts.push(mount)
    }
  }
  return mounts.toSorted(byDepth)
}

function closedOnTheWay(path: string, below: Mount | undefined, user: Identity): string | undefined {
  const from = below?.path ?? '/'
  const onTheWay: string[] = []
  for (let dir = dirname(path); dir.length > from.length; dir = dirname(dir)) onTheWay.unshift(dir)
  return onTheWay.find((dir) => {
    const outside = outsideOf(dir, below)
    // What does not exist is made by bubblewrap, open.
    return exists(outside) && !mayExecute(outside, user)
  })
}

/** Where something lies outside that inside is seen below that mount. */
function outsideOf(path: string, below: Mount | undefined): string {
  return below && !isEmpty(below) ? join(below.source, relative(below.path, path)) : path
}

const exists = (path: string) => statSync(path, { throwIfNoEntry: false }) !== undefined
const isEmpty = (mount: Mount): mount is Extract<Mount, { kind: 'empty' | 'emptyFile' }> => !('source' in mount)
const depth = (path: string) => path.split('/').filter(Boolean).length
const byDepth = (a: Mount, b: Mount) => depth(a.path) - depth(b.path) || Number(isEmpty(b)) - Number(isEmpty(a))
const isWithin = (path: string, parent: string) => path === parent || path.startsWith(parent === '/' ? '/' : `${parent}/`)
const enclosing = (path: string, mounts: readonly Mount[]) => mounts.findLast((mount) => isWithin(path, mount.path))

/**
 * What a program needs around it: its directory, or all of `node_modules` if it is a package, because packages find each other there.
 * Never the closed directory itself: a script that lies directly in a home must not open that home.
 */
function programRoot(file: string, user: Identity): string {
  const modules = file.indexOf('/node_modules/')
  const root =
    modules === -1 || file === realpathSync(process.execPath) ? dirname(file) : join(file.slice(0, modules), 'node_modules')
  return root === closedAncestor(file, user) || root === temporary() ? file : root
}
