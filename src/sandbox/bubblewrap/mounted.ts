import { readFileSync } from 'node:fs'
import { type HostPath, hostPath, isInside, pathIn, relativeTo, type SandboxPath } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import { enclosing, isBind, type Mount } from './mounts.ts'
import type { SystemView } from './system.ts'

/** What is to be seen at a path inside: what lies at `source` outside, or, without one, something of the sandbox's own. */
export interface Expected {
  readonly path: SandboxPath
  readonly source?: HostPath | undefined
}

/** The mounts that are seen in the end, without those that others lie over, and without the machine's own folders, in which no agent writes. */
export function expectedOf(mounts: readonly Mount[], system: SystemView, emptyFile: HostPath | undefined): Expected[] {
  return mounts
    .filter((mount) => enclosing(mount.path, mounts) === mount && !(isBind(mount) && system.folders.includes(mount.source)))
    .map((mount) => ({
      path: mount.path,
      source: isBind(mount) ? mount.source : mount.kind === 'emptyFile' ? emptyFile : undefined,
    }))
}

/**
 * Is everything mounted from where it was planned, and where it was planned? Bubblewrap follows links, and an agent that works in the same folder, or around it, may put one
 * in the place of a folder at any moment: another folder would be seen, or what was to be covered lie open. The kernel says of each mount in which file system it lies and
 * where, whatever its path has led to meanwhile. To be asked when the walls stand and nothing of the agent has started.
 */
export function assertMounted(first: number, expected: readonly Expected[]): void {
  // The last one at a path lies on top.
  const inside = new Map(mountsOf(first).map((mount) => [mount.path, mount]))
  const outside = mountsOf('self')
  for (const { path, source } of expected) {
    const found = inside.get(path)
    const wanted = source === undefined ? undefined : locate(source, outside)
    if (found && (source === undefined || (found.device === wanted?.device && found.root === wanted.root))) continue
    throw new PawlError(
      'conflict',
      `"${path}" was exchanged for something else while it was mounted; another program works in the same folder. Try again.`,
    )
  }
}

interface Mounted {
  readonly id: string
  readonly parent: string
  /** The file system, and where in it lies what is mounted. */
  readonly device: string
  readonly root: string
  /** Where it is mounted, as that process sees it. */
  readonly path: string
}

function mountsOf(pid: number | 'self'): Mounted[] {
  const lines = readFileSync(`/proc/${pid}/mountinfo`, 'utf8').split('\n')
  return lines.flatMap((line) => {
    const [id = '', parent = '', device = '', root = '', path] = line.split(' ')
    return path === undefined ? [] : [{ id, parent, device, root: unescaped(root), path: unescaped(path) }]
  })
}

/** Blanks, ends of lines and backslashes are written as three octal digits. */
function unescaped(text: string): string {
  return text.replaceAll(/\\([0-7]{3})/g, (_, digits: string) => String.fromCharCode(Number.parseInt(digits, 8)))
}

/** In which file system a real path lies, and where, as the kernel would find it: from mount to mount, each of them lying over what is below it. */
function locate(path: HostPath, mounts: readonly Mounted[]): { device: string; root: string } | undefined {
  const onTheWay = mounts.filter((mount) => isInside(hostPath(mount.path), path))
  const parentsOf = (mount: Mounted) => onTheWay.filter((other) => other !== mount && other.id === mount.parent)
  let at = onTheWay.find((mount) => parentsOf(mount).length === 0)
  for (let next = at; next; ) {
    const above = next
    at = above
    // Of two that lie on the same one, the higher hides the deeper.
    const on = onTheWay.filter((mount) => parentsOf(mount).includes(above))
    next = on.toSorted((one, other) => one.path.length - other.path.length)[0]
  }
  const below = at && relativeTo(hostPath(at.path), path)
  return at && below && { device: at.device, root: pathIn(hostPath(at.root), below) }
}
