import { type Dirent, lstatSync, readdirSync, readlinkSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type HostPath, hostPath, isInside, type SandboxPath, sandboxPath } from '../../domain/base/path.ts'
import type { Identity } from './identity.ts'

/** What of the machine itself is seen inside, always read-only; whatever is not named here is not there. */
export interface SystemView {
  readonly folders: readonly HostPath[]
  /** Where the machine has a link in place of a folder, so have the walls. */
  readonly links: readonly { readonly path: SandboxPath; readonly target: string }[]
}

/** Programs and their libraries, and the settings of the machine that programs read; where the packages of some distributions lie. */
const folders = ['/usr', '/bin', '/sbin', '/lib', '/lib32', '/lib64', '/libx32', '/opt', '/etc', '/nix', '/gnu', '/snap']

/** How many processors there are, and nothing else of /sys; where some distributions keep certificates; what NixOS calls the system. */
const single = ['/sys/devices/system/cpu', '/var/lib/ca-certificates', '/run/current-system']

const settings = hostPath('/etc')

/** In a world of links these are what old programs expect. */
const always = [
  { path: sandboxPath('/var/run'), target: '/run' },
  { path: sandboxPath('/var/lock'), target: '/run/lock' },
]

export function systemView(network: 'none' | 'host'): SystemView {
  const links: { path: SandboxPath; target: string }[] = [...always]
  const seen: HostPath[] = []
  // Where it is a link to what the resolver of the machine writes into /run. Without a network nobody is asked.
  const names = network === 'host' ? realFile(join(settings, 'resolv.conf')) : undefined
  for (const path of [...folders, ...single, ...(names === undefined || isInside(settings, names) ? [] : [names])]) {
    const found = lstatSync(path, { throwIfNoEntry: false })
    if (found?.isSymbolicLink()) links.push({ path: sandboxPath(path), target: readlinkSync(path) })
    else if (found) seen.push(hostPath(path))
  }
  return { folders: seen, links }
}

/** Our own, and what holds keys on many machines however it is protected there. */
const privateNames = new Set([
  'pawl',
  'shadow',
  'gshadow',
  'sudoers',
  'sudoers.d',
  'letsencrypt',
  'wireguard',
  'openvpn',
  'kubernetes',
])

/**
 * What below /etc the agent's user could read although it is not for everybody: as a plain user the agent has that user's rights, and
 * those of that user's groups. What that user may not read anyway needs no cover.
 */
export function privateSettings(user: Identity, folder: string = settings, depth = 3): HostPath[] {
  return entriesOf(folder).flatMap((entry) => {
    if (entry.isSymbolicLink()) return []
    const path = hostPath(join(folder, entry.name))
    if (depth === 3 && privateNames.has(entry.name)) return [path]
    const found = statSync(path, { throwIfNoEntry: false })
    if (!found) return []
    const isOpen = (found.mode & (entry.isDirectory() ? 0o005 : 0o004)) !== 0
    if (!isOpen) return mayRead(found, user) ? [path] : []
    return entry.isDirectory() && depth > 1 && mayRead(found, user) ? privateSettings(user, path, depth - 1) : []
  })
}

function entriesOf(folder: string): Dirent[] {
  try {
    return readdirSync(folder, { withFileTypes: true })
  } catch (error) {
    // Gone meanwhile, or closed to us by more than its mode; then it is closed to the agent too.
    if (['ENOENT', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return []
    throw error
  }
}

function mayRead(found: { mode: number; uid: number; gid: number }, user: Identity): boolean {
  if (found.uid === user.uid) return (found.mode & 0o400) !== 0
  const isInGroup = found.gid === user.gid || user.groups?.includes(found.gid)
  return (found.mode & (isInGroup ? 0o040 : 0o004)) !== 0
}

function realFile(path: string): HostPath | undefined {
  return statSync(path, { throwIfNoEntry: false }) && hostPath(realpathSync(path))
}
