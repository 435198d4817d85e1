import { constants } from 'node:fs'
import { lstat, open, realpath, rename } from 'node:fs/promises'
import { dirname, join, relative, resolve } from 'node:path'
import { type DirectoryHandle, noFollow, openDirectory } from '../../files/directory-handle.ts'
import { removeEntry } from '../../files/remove-tree.ts'
import { readRegular } from './capture.ts'
import type { FoundAll } from './find-code.ts'
import { indexGit } from './git.ts'
import type { PlannedMask } from './masks.ts'

/** Tracked files that git is told to overlook while the agent does not see them: a commit of everything would take them for deleted. */
export interface Overlooked {
  /** Of the work tree; relative to the workspace. */
  readonly folder: string
  /** Relative to that folder. */
  readonly paths: string[]
}

/** Where the workspace lies, and what it is called inside. */
export interface Place {
  readonly source: string
  readonly path: string
}

/** Which tracked files lie behind these paths. Those that git overlooks already are left out, unless another run of ours has told it to. */
export async function trackedBehind(
  place: Place,
  found: FoundAll,
  paths: readonly string[],
  others: readonly Overlooked[] = [],
): Promise<Overlooked[]> {
  const pointers = found.code.filter(({ is, path }) => is === 'git-pointer' && path.endsWith('.git')).map(({ path }) => path)
  const trees = [...found.repositories, ...pointers]
    .filter((path) => path === '.git' || path.endsWith('/.git'))
    .map((path) => dirname(path))
    .toSorted((a, b) => b.length - a.length)
  const byTree = new Map<string, string[]>()
  for (const path of paths) {
    const tree = trees.find((folder) => folder === '.' || path.startsWith(`${folder}/`))
    if (tree !== undefined) byTree.set(tree, [...(byTree.get(tree) ?? []), relative(tree, path)])
  }
  const overlooked: Overlooked[] = []
  for (const [folder, below] of byTree) {
    // A repository that git does not understand has nothing that a commit could lose.
    const listed = await list(place, folder, below).catch(() => '')
    const isOurs = (path: string) => others.some((other) => other.folder === folder && other.paths.includes(path))
    const tracked = listed
      .split('\0')
      .filter((line) => line.startsWith('H ') || (line.startsWith('S ') && isOurs(line.slice(2))))
      .map((line) => line.slice(2))
    if (tracked.length > 0) overlooked.push({ folder, paths: tracked })
  }
  return overlooked
}

export async function overlook(place: Place, overlooked: readonly Overlooked[]): Promise<void> {
  for (const { folder, paths } of overlooked) await mark(place, folder, '--skip-worktree', paths)
}

/** Without what others need. */
export const notNeededBy = (others: readonly Overlooked[], overlooked: readonly Overlooked[]): Overlooked[] =>
  overlooked.map(({ folder, paths }) => {
    const needed = new Set(others.filter((other) => other.folder === folder).flatMap((other) => other.paths))
    return { folder, paths: paths.filter((path) => !needed.has(path)) }
  })

/** Those that the agent took out of the index, or that are looked at again already, need nothing. */
export async function lookAgain(place: Place, overlooked: readonly Overlooked[]): Promise<void> {
  for (const { folder, paths } of overlooked.filter((one) => one.paths.length > 0)) {
    const listed = await list(place, folder, paths)
    const still = new Set(listed.split('\0').flatMap((line) => (line.startsWith('S ') ? [line.slice(2)] : [])))
    await mark(
      place,
      folder,
      '--no-skip-worktree',
      paths.filter((path) => still.has(path)),
    )
  }
}

/**
 * A file that the agent does not see is an empty one to git, and one that is not tracked would be committed so. Git is shown a list of what to leave out
 * that has these as well; where the repository has no such list, an empty file may be committed, and the file itself is untouched.
 */
export async function excludeShown(
  { source, path }: Place,
  unseen: readonly string[],
  overlooked: readonly Overlooked[],
): Promise<PlannedMask[]> {
  const tracked = new Set(overlooked.flatMap(({ folder, paths }) => paths.map((one) => join(folder, one))))
  const untracked = unseen.filter((one) => !tracked.has(one))
  const folder = untracked.length > 0 ? await openDirectory(join(source, '.git/info')) : undefined
  try {
    const text = folder && (await readRegular(folder, 'exclude'))?.toString('utf8')
    if (text === undefined) return []
    const lines = untracked.map((one) => `/${one.replace(/[\\*?[\]#! ]/g, '\\$&')}`)
    return [{ kind: 'text', path: join(path, '.git/info/exclude'), text: `${text}\n${lines.join('\n')}\n` }]
  } finally {
    await folder?.close()
  }
}

/** Only tracked files can be marked; git refuses all of them for one that is not. */
async function mark(place: Place, folder: string, flag: string, paths: readonly string[]): Promise<void> {
  if (paths.length === 0) return
  await withIndex(place, folder, async (index) => {
    let { bytes } = index
    for (let at = 0; at < paths.length; at += 500)
      bytes = (await indexGit({ ...index, bytes }, 'update-index', [flag, '--', ...paths.slice(at, at + 500)])).bytes
    await replaceIndex(index.gitdir, bytes)
  })
}

const list = (place: Place, folder: string, paths: readonly string[]) =>
  withIndex(place, folder, async (index) => (await indexGit(index, 'ls-files', ['-z', '-t', '--', ...paths])).out)

/** As git does it: whoever makes the lock file may write. It belongs to whom the old one belonged, and is no younger: by that git tells what it must look at. */
async function replaceIndex(gitdir: DirectoryHandle, bytes: Buffer): Promise<void> {
  const old = await lstat(gitdir.at('index'))
  const lock = await open(gitdir.at('index.lock'), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600)
  try {
    await lock.writeFile(bytes)
    await lock.chown(old.uid, old.gid)
    await lock.chmod(old.mode & 0o777)
    await lock.utimes(old.atime, new Date(Math.floor(old.mtimeMs)))
    await rename(gitdir.at('index.lock'), gitdir.at('index'))
  } catch (error) {
    await removeEntry(gitdir, 'index.lock')
    throw error
  } finally {
    await lock.close()
  }
}

interface Index {
  readonly bytes: Buffer
  readonly isSha256: boolean
  readonly gitdir: DirectoryHandle
}

/** The index of a work tree: a regular file that no link leads to, in its repository or where the pointer says. */
async function withIndex<T>(place: Place, folder: string, use: (index: Index) => Promise<T>): Promise<T> {
  const root = await realpath(place.source)
  const tree = join(root, folder)
  const gitdir = await openDirectory(await gitdirOf({ source: root, path: place.path }, tree))
  try {
    const bytes = gitdir && (await readRegular(gitdir, 'index', maxIndexBytes))
    if (!gitdir || !bytes) throw new Error(`${tree} has no index that could be read`)
    const path = await realpath(gitdir.at('.'))
    // Anybody can point at a repository elsewhere; it is theirs only if that points back.
    const back = (await readRegular(gitdir, 'gitdir'))?.toString('utf8').trim()
    if (!isWithin(path, root) && back !== join(place.path, folder, '.git')) throw new Error(`${path} does not belong to ${tree}`)
    const config = (await readRegular(gitdir, 'config'))?.toString('utf8') ?? ''
    return await use({ bytes, gitdir, isSha256: /objectformat\s*=\s*"?sha256/i.test(config) })
  } finally {
    await gitdir?.close()
  }
}

const maxIndexBytes = 256_000_000

async function gitdirOf(place: Place, tree: string): Promise<string> {
  const folder = await openDirectory(tree)
  try {
    const pointer = folder && (await readRegular(folder, '.git'))?.toString('utf8')
    const named = pointer === undefined ? join(tree, '.git') : /^gitdir: ([^\n\0]+)\n?$/.exec(pointer)?.[1]
    if (named === undefined) throw new Error(`${tree}/.git leads nowhere`)
    const seen = resolve(tree, named)
    return await realpath(isWithin(seen, place.path) ? join(place.source, relative(place.path, seen)) : seen)
  } finally {
    await folder?.close()
  }
}

const isWithin = (path: string, folder: string) => path === folder || path.startsWith(`${folder}/`)
