import { constants, realpathSync } from 'node:fs'
import { open, readlink, realpath } from 'node:fs/promises'
import { type HostPath, hostPath, isInside, pathIn, relativeTo, sandboxPath } from '../../domain/base/path.ts'
import { type DirectoryHandle, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { markOf, type Walls } from '../../sandbox/port.ts'

/** Names an entry without opening it, so that a pipe keeps nobody waiting. Node has no name for it. */
const namesOnly = 0o10000000

/**
 * Where a folder leads, if that is not where it was. Folders of tasks are stored with all links followed, and whoever asked was let in for that place: an agent that
 * works further up may have put a link there since.
 */
export async function leadsElsewhere(stored: string): Promise<string | undefined> {
  const real = await realpath(stored).catch(() => undefined)
  return real === undefined || real === stored ? undefined : real
}

/**
 * What the folder at that very path is, to be held against what is mounted later: between a look at a path and its mount it can be exchanged. Undefined where nobody can tell,
 * or where it leads elsewhere already.
 */
export async function placeAt(stored: string, is: 'folder' | 'file or folder' = 'folder'): Promise<string | undefined> {
  if (process.platform !== 'linux') return undefined
  const flags = is === 'folder' ? constants.O_RDONLY | constants.O_DIRECTORY : namesOnly
  const folder = await open(stored, flags | constants.O_NOFOLLOW).catch(() => undefined)
  if (!folder) return undefined
  try {
    const found = await folder.stat()
    // The kernel says where the folder is that is open, whatever lies at the path by now.
    const path = await readlink(`/proc/self/fd/${folder.fd}`).catch(() => undefined)
    return path === stored && !found.isSymbolicLink() ? markOf(found) : undefined
  } finally {
    await folder.close()
  }
}

/**
 * A folder that a task names, as walls are to show it at `path`, with what it is now; undefined if it leads elsewhere by now. In the home of Pawl, which may lie behind a link of its
 * user's, nobody can exchange it.
 */
export async function shownAt(folder: string, home: string, path: string = folder): Promise<Walls['workspace'] | undefined> {
  const shown = { source: hostPath(folder), path: sandboxPath(path) }
  if (isInside(hostPath(home), shown.source) || process.platform !== 'linux') return shown
  const mark = await placeAt(folder)
  return mark === undefined ? undefined : { ...shown, mark }
}

/**
 * Opens the folder that a run works in; undefined if it is gone, or a link is on the way by now. What a task names is stored with links followed. The home of Pawl may
 * lie behind a link of its user's; below it everything is ours.
 */
export async function openWorkspace(source: string, home?: string): Promise<DirectoryHandle | undefined> {
  return openDirectory(home === undefined ? source : realPlace(source, home))
}

/** The path of a folder as the kernel has it, if only the user's own link to the home of Pawl is on the way; any other link stays, and nobody follows it. */
export function realPlace(source: string, home: string): HostPath {
  const below = relativeTo(hostPath(home), hostPath(source))
  return below === undefined ? hostPath(source) : pathIn(hostPath(realpathSync.native(home)), below)
}
