import { closeSync, existsSync, openSync, readSync, realpathSync } from 'node:fs'
import { homedir } from 'node:os'
import { basename, dirname, join } from 'node:path'
import { type HostPath, hostPath, isInside, parentOf } from '../../domain/base/path.ts'
import { closedAncestor, type Identity } from './identity.ts'

export interface Surroundings {
  readonly user: Identity
  /** Directories that no program's folder may hold: workspaces, homes, what is hidden. */
  readonly reserved: readonly HostPath[]
  readonly temporary: readonly string[]
}

/**
 * What a program needs around it: its directory, or all of `node_modules` if it is a package, because packages find each other there.
 * Only the file itself where the directory is not the program's own, so that a script in somebody's home does not open that home.
 */
export function programRoots(file: HostPath, surroundings: Surroundings): HostPath[] {
  const folder = parentOf(file)
  if ((file as string) === realpathSync(process.execPath)) {
    // Its package program lies there, and the bin folder holds only a link to it.
    const modules = hostPath(join(folder, '../lib/node_modules'))
    return [isOwn(folder, surroundings) ? folder : file, ...(basename(folder) === 'bin' && existsSync(modules) ? [modules] : [])]
  }
  const modules = file.indexOf('/node_modules/')
  if (modules !== -1) return [hostPath(join(file.slice(0, modules), 'node_modules'))]
  const parent = parentOf(folder)
  if (basename(folder) === 'bin' && existsSync(join(parent, 'pyvenv.cfg'))) return [parent]
  return [isOwn(folder, surroundings) ? folder : file]
}

/** The program that a script names in its first line, by the real path of its directory, and what it leads to if it is a link. */
export function interpretersOf(file: string): HostPath[] {
  const fd = openSync(file, 'r')
  try {
    const start = Buffer.alloc(256)
    const line = start.toString('latin1', 0, readSync(fd, start)).split('\n')[0] ?? ''
    const named = /^#!\s*(\/\S+)/.exec(line)?.[1]
    if (named === undefined || !existsSync(named)) return []
    return [join(realpathSync(dirname(named)), basename(named)), realpathSync(named)].map(hostPath)
  } finally {
    closeSync(fd)
  }
}

function isOwn(folder: HostPath, { user, reserved, temporary }: Surroundings): boolean {
  if (folder === '/' || temporary.includes(folder) || folder === closedAncestor(join(folder, 'x'), user)) return false
  if (isHome(folder) || (isHome(dirname(folder)) && basename(folder) !== 'bin')) return false
  return !reserved.some((path) => isInside(folder, path))
}

const isHome = (folder: string) => folder === ownHome() || folder === '/root' || ['/home', '/Users'].includes(dirname(folder))

function ownHome(): string | undefined {
  try {
    return homedir()
  } catch {
    // A user without an account has no home to protect.
    return undefined
  }
}
