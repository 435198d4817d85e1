import { execFile } from 'node:child_process'
import {
  chmod,
  chown,
  copyFile,
  lchown,
  lstat,
  mkdir,
  readdir,
  readFile,
  readlink,
  rename,
  rm,
  rmdir,
  symlink,
  unlink,
} from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { PawlError } from '../domain/error.ts'
import { writeFileDurably } from '../store/durable-file.ts'

const run = promisify(execFile)

/**
 * A copy of a workspace that an unprivileged user may write, for the time of a run. What changed in it is brought back afterwards; what the owner changed
 * meanwhile is never overwritten. The agent is dead when we bring back, and it never had the original: nothing moves under our hands.
 */
export interface WorkspaceCopy {
  readonly path: string
  bringBack(): Promise<Changes>
  remove(): Promise<void>
}

export interface Changes {
  readonly written: string[]
  readonly removed: string[]
  /** Changed on both sides: the original stays, the copy's version is left in `path`. */
  readonly conflicts: string[]
  /** Pipes, sockets and devices the agent made: they stay behind. */
  readonly refused: string[]
}

interface Entry {
  kind: 'file' | 'directory' | 'link' | 'other'
  size: number
  mode: number
  mtimeNs: string
  /** Of the copy: changes with every write, whatever the agent does to the other times. */
  ctimeNs: string
  target?: string
}
type Tree = Record<string, Entry>

/** Makes the copy, all but what lies at `without` (our own home may lie inside a workspace), or goes on with the one that a crash left behind complete: it may hold work that was not brought back. */
export async function copyWorkspace(
  original: string,
  directory: string,
  owner: { uid: number; gid: number },
  without: string,
): Promise<WorkspaceCopy> {
  const path = join(directory, 'copy')
  const baseFile = join(directory, 'base.json')
  let base = await readBase(baseFile)
  if (!base) {
    await rm(directory, { recursive: true, force: true })
    await mkdir(directory, { recursive: true, mode: 0o700 })
    try {
      await copyExcept(original, path, without)
      await run('chown', ['-R', '-h', `${owner.uid}:${owner.gid}`, '--', path])
    } catch (error) {
      throw new PawlError(
        'unavailable',
        `The workspace ${original} could not be copied for the agent's user; is the disk full?`,
        { cause: error },
      )
    }
    base = await readTree(path)
    await writeFileDurably(baseFile, JSON.stringify(base))
  }
  const known = base
  return {
    path,
    bringBack: () => bringBack(path, original, known),
    remove: () => rm(directory, { recursive: true, force: true }),
  }
}

async function copyExcept(from: string, to: string, without: string): Promise<void> {
  if (from === without) return
  if (!without.startsWith(`${from}/`)) {
    await run('cp', ['-a', '--reflink=auto', '--', from, to])
    return
  }
  await mkdir(to, { mode: (await lstat(from)).mode & 0o777 })
  for (const name of await readdir(from)) await copyExcept(join(from, name), join(to, name), without)
}

async function readBase(file: string): Promise<Tree | undefined> {
  try {
    return JSON.parse(await readFile(file, 'utf8')) as Tree
  } catch {
    // None, or half-written by a crash while copying: then the copy is made anew.
    return undefined
  }
}

async function readTree(root: string): Promise<Tree> {
  const tree: Tree = {}
  const walk = async (relative: string): Promise<void> => {
    const names = await readdir(join(root, relative))
    for (const name of names) {
      const path = relative === '' ? name : `${relative}/${name}`
      tree[path] = await entryAt(join(root, path))
      if (tree[path].kind === 'directory') await walk(path)
    }
  }
  await walk('')
  return tree
}

async function entryAt(path: string): Promise<Entry> {
  const stat = await lstat(path, { bigint: true })
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other'
  return {
    kind,
    size: Number(stat.size),
    mode: Number(stat.mode) & 0o777,
    mtimeNs: String(stat.mtimeNs),
    ctimeNs: String(stat.ctimeNs),
    ...(kind === 'link' ? { target: await readlink(path) } : {}),
  }
}

async function bringBack(copy: string, original: string, base: Tree): Promise<Changes> {
  const now = await readTree(copy)
  const changes: Changes = { written: [], removed: [], conflicts: [], refused: [] }
  // Parents come before their children in both lists, so directories exist before files and empty out before they go.
  for (const [path, entry] of Object.entries(now)) {
    const before = base[path]
    if (before && sameInCopy(before, entry)) continue
    if (entry.kind === 'other') {
      changes.refused.push(path)
      continue
    }
    if (before && sameContent(before, entry) && entry.kind === 'directory' && before.mode === entry.mode) continue
    const there = await entryAt(join(original, path)).catch(() => undefined)
    if (entry.kind === 'directory' && there?.kind === 'directory') {
      if (there.mode !== entry.mode && before) await chmod(join(original, path), entry.mode)
      continue
    }
    const untouched = before ? there !== undefined && sameContent(before, there) : there === undefined
    if (!untouched) {
      if (!(there && (await sameBytes(join(copy, path), entry, join(original, path), there)))) changes.conflicts.push(path)
      continue
    }
    await put(join(copy, path), join(original, path), entry, there)
    changes.written.push(path)
  }
  for (const [path, before] of Object.entries(base).toReversed()) {
    if (now[path]) continue
    const there = await entryAt(join(original, path)).catch(() => undefined)
    if (!there) continue
    if (before.kind === 'directory') {
      // Not empty: the owner put something there meanwhile, and keeps it.
      await rmdir(join(original, path)).catch(() => changes.conflicts.push(path))
      continue
    }
    if (!sameContent(before, there)) {
      changes.conflicts.push(path)
      continue
    }
    await unlink(join(original, path))
    changes.removed.push(path)
  }
  return changes
}

const sameInCopy = (before: Entry, entry: Entry) => before.kind === entry.kind && before.ctimeNs === entry.ctimeNs
const sameContent = (a: Entry, b: Entry) =>
  a.kind === b.kind &&
  (a.kind === 'directory' ||
    (a.kind === 'link' ? a.target === b.target : a.size === b.size && a.mtimeNs === b.mtimeNs && a.mode === b.mode))

async function sameBytes(a: string, entryA: Entry, b: string, entryB: Entry): Promise<boolean> {
  if (entryA.kind !== entryB.kind || entryA.kind !== 'file' || entryA.size !== entryB.size)
    return entryA.kind === 'link' && entryA.target === entryB.target
  return (await readFile(a)).equals(await readFile(b))
}

/** Set-user-id and the like are never brought back: `mode` holds only the nine permission bits. */
async function put(from: string, to: string, entry: Entry, there: Entry | undefined): Promise<void> {
  const owner = await lstat(there ? to : dirname(to))
  if (there && there.kind !== entry.kind) await rm(to, { recursive: true })
  if (entry.kind === 'directory') {
    await mkdir(to, { mode: entry.mode })
    await chown(to, owner.uid, owner.gid)
    await chmod(to, entry.mode)
    return
  }
  const temporary = `${to}.pawl-${process.pid}`
  await rm(temporary, { force: true })
  if (entry.kind === 'link') await symlink(entry.target ?? '', temporary)
  else {
    await copyFile(from, temporary)
    await chmod(temporary, entry.mode)
  }
  await lchown(temporary, owner.uid, owner.gid)
  await rename(temporary, to)
}
