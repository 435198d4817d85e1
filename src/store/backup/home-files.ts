import { closeSync, fstatSync, lstatSync, read, realpathSync, type Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { promisify } from 'node:util'
import { isPlainBelow } from '../../domain/base/path.ts'
import { conflict, invalid, unavailable } from '../../domain/error.ts'
import { type DirectoryHandle, openDirectory, openIn } from '../../sandbox/files/directory-handle.ts'
import { openRegular } from '../../sandbox/files/read-file.ts'
import { syncFolder } from './archive-writer.ts'
import type { PartBegin } from './format.ts'

/** What of a home is kept beside the database. */
export interface Kept {
  readonly withKeys: boolean
  readonly withWorkspaces: boolean
  readonly withLogs: boolean
  /** Replaces secrets by as many other bytes. Left out: nothing is replaced. */
  readonly hide?: ((content: AsyncIterable<Buffer>) => AsyncIterable<Buffer>) | undefined
}

/** What people have written, and what runs have left that nothing else holds. */
const always = ['config.yaml', 'trusted.json', 'prompts', 'skills', 'subagents', 'users', 'recordings', 'quarantine', 'blobs']
/** Whoever has these needs no other key. */
const keys = ['secret.key', 'push-key.pem', 'a2a-card-key.pem', 'a2a-push-key.pem']
/** Conversations, locks, the server's own files and the token of the home are left out: they are in the tables, or are made anew. */
const workspaces = ['workspaces']
const logs = ['runs']
/** What agents wrote, byte for byte: a backup without keys has none of those that agents wrote down either. The rest is as people wrote it, or found by its digest. */
const ofAgents = new Set(['recordings', 'quarantine', ...workspaces, ...logs])
/** Nothing else of a home is ever written by a restore: not its token, nor the files of the server that it restores into. */
const known = new Set([...always, ...keys, ...workspaces, ...logs])

export interface HomeEntry {
  readonly begin: Exclude<PartBegin, { part: 'table' }>
  readonly blocks: AsyncIterable<Buffer>
}

/** Files and links of a home. A link is kept as a link and never followed; what is neither (a socket, a pipe) is left out. */
export async function* homeEntries(home: string, kept: Kept): AsyncGenerator<HomeEntry> {
  const names = [
    ...always,
    ...(kept.withKeys ? keys : []),
    ...(kept.withWorkspaces ? workspaces : []),
    ...(kept.withLogs ? logs : []),
  ]
  const root = await openDirectory(realpathSync.native(home))
  if (!root) return
  try {
    for (const name of names) {
      const hide = ofAgents.has(name) && !kept.withKeys ? kept.hide : undefined
      for await (const { begin, blocks } of entriesIn(root, name, { path: name, depth: 1 }))
        yield { begin, blocks: hide ? hide(blocks) : blocks }
    }
  } finally {
    await root.close()
  }
}

/** The handles on the way down stay open. What an agent has buried deeper is left out. */
const deepest = 100

/** From open folder to open folder: agents go on working meanwhile, and one could put a link in the place of a folder. */
async function* entriesIn(
  folder: DirectoryHandle,
  name: string,
  { path, depth }: { readonly path: string; readonly depth: number },
): AsyncGenerator<HomeEntry> {
  const found = lstatSync(folder.at(name), { throwIfNoEntry: false })
  if (!found) return
  const mode = found.mode & 0o777
  if (found.isDirectory()) {
    const inside = depth < deepest ? await orLeftOut(path, () => openIn(folder, name)) : undefined
    if (!inside) return
    try {
      const names = await readdir(inside.at('.')).catch(ifGone([]))
      for (const below of names.sort()) yield* entriesIn(inside, below, { path: `${path}/${below}`, depth: depth + 1 })
    } finally {
      await inside.close()
    }
  } else if (found.isSymbolicLink()) {
    const target = await readlink(folder.at(name)).catch(ifGone(undefined))
    if (target !== undefined) yield { begin: { part: 'link', path, mode: 0 }, blocks: one(Buffer.from(target)) }
  } else if (found.isFile()) {
    const file = await orLeftOut(path, async () => openRegular(folder, name))
    if (file === undefined) return
    try {
      yield { begin: { part: 'file', path, mode }, blocks: contentOf(file) }
    } finally {
      closeSync(file)
    }
  }
}

/** What agents write they may close to others. It must not keep the rest from being backed up; a file of ours that cannot be read must. */
async function orLeftOut<T>(path: string, open: () => Promise<T>): Promise<T | undefined> {
  try {
    return await open()
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EACCES' && [...workspaces, ...logs].includes(path.split('/')[0]!)) return undefined
    throw unavailable(`The file ${path} cannot be read for the backup (${code}).`, error)
  }
}

/** Agents go on working meanwhile: what is gone by now was not there. */
const ifGone =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    // EINVAL: it was a link when we looked.
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR' || error.code === 'EINVAL') return instead
    throw error
  }

const lookAt = (path: string): Promise<Stats | undefined> => lstat(path).catch(ifGone(undefined))

async function* one(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}

/** As long as it was when it was opened: a file that grows as fast as it is read would have no end. */
async function* contentOf(file: number): AsyncGenerator<Buffer> {
  const { size } = fstatSync(file)
  for (let at = 0; at < size; ) {
    const block = Buffer.allocUnsafe(Math.min(1 << 20, size - at))
    const { bytesRead } = await readSome(file, block, 0, block.length, at)
    if (bytesRead === 0) return
    yield block.subarray(0, bytesRead)
    at += bytesRead
  }
}

const readSome = promisify(read)

/** Nothing of a home is ever replaced: what is there already must be the same, or the restore is refused before it begins. */
export async function refuseOtherFiles(
  home: string,
  parts: readonly PartBegin[],
  isSame: (path: string) => Promise<boolean>,
): Promise<void> {
  for (const part of parts) {
    if (part.part === 'table') continue
    assertInside(part.path)
    if ((await lookAt(join(home, part.path))) && !(await isSame(part.path)))
      throw conflict(
        `${join(home, part.path)} is there already and differs from the one in the backup; move it away, or restore into another home (--home).`,
      )
  }
}

/** A path in a backup is one that we have written; one that leads out of the home was not. */
function assertInside(path: string): void {
  if (!known.has(path.split('/')[0]!) || !isPlainBelow(path))
    throw invalid(`The backup names a file "${path}", which none of this Pawl would; it was not made by Pawl, or by a newer one.`)
}

export async function putEntry(home: string, begin: HomeEntry['begin'], blocks: AsyncIterable<Buffer>): Promise<void> {
  assertInside(begin.path)
  const full = join(home, begin.path)
  await makeFolders(home, dirname(begin.path))
  if (begin.part === 'link') {
    const pieces: Buffer[] = []
    for await (const block of blocks) pieces.push(block)
    const target = Buffer.concat(pieces).toString('utf8')
    await symlink(target, full).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
    return
  }
  // Written by an earlier try that was cut short, it is written anew.
  await rm(full, { force: true })
  const handle = await open(full, 'wx', begin.mode)
  try {
    for await (const block of blocks) await handle.writeFile(block)
    await handle.chmod(begin.mode)
    await handle.sync()
  } finally {
    await handle.close()
  }
  await syncFolder(dirname(full))
}

/** Step by step, so that no link on the way leads elsewhere. */
async function makeFolders(home: string, path: string): Promise<void> {
  if (path === '.') return
  await makeFolders(home, dirname(path))
  const full = join(home, path)
  const found = await lookAt(full)
  if (!found) await mkdir(full, { mode: 0o700 })
  else if (!found.isDirectory()) throw conflict(`${full} is no folder; move it away, then restore again.`)
}
