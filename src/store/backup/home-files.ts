import { constants, type Stats } from 'node:fs'
import { lstat, mkdir, open, readdir, readlink, rm, symlink } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { conflict, invalid, unavailable } from '../../domain/error.ts'
import { syncFolder } from './archive-writer.ts'
import type { PartBegin } from './format.ts'

/** What of a home is kept beside the database. */
export interface Kept {
  readonly withKeys: boolean
  readonly withWorkspaces: boolean
  readonly withLogs: boolean
}

/** What people have written, and what runs have left that nothing else holds. */
const always = ['config.yaml', 'trusted.json', 'prompts', 'skills', 'subagents', 'users', 'recordings', 'quarantine', 'blobs']
/** Whoever has these needs no other key. */
const keys = ['secret.key', 'push-key.pem', 'a2a-card-key.pem', 'a2a-push-key.pem']
/** Conversations, locks, the server's own files and the token of the home are left out: they are in the tables, or are made anew. */
const workspaces = ['workspaces']
const logs = ['runs']
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
  for (const name of names) yield* entriesAt(home, name)
}

async function* entriesAt(home: string, path: string): AsyncGenerator<HomeEntry> {
  const full = join(home, path)
  const found = await lookAt(full)
  if (!found) return
  const mode = found.mode & 0o777
  if (found.isDirectory()) {
    const names = await readdir(full).catch(ifGone([]))
    for (const name of names.sort()) yield* entriesAt(home, `${path}/${name}`)
  } else if (found.isSymbolicLink()) {
    const target = await readlink(full).catch(ifGone(undefined))
    if (target !== undefined) yield { begin: { part: 'link', path, mode: 0 }, blocks: one(Buffer.from(target)) }
  } else if (found.isFile()) yield { begin: { part: 'file', path, mode }, blocks: contentOf(full) }
}

/** Agents go on working meanwhile: what is gone by now was not there. */
const ifGone =
  <T>(instead: T) =>
  (error: NodeJS.ErrnoException): T => {
    if (error.code === 'ENOENT' || error.code === 'ENOTDIR') return instead
    throw error
  }

const lookAt = (path: string): Promise<Stats | undefined> => lstat(path).catch(ifGone(undefined))

async function* one(content: Buffer): AsyncGenerator<Buffer> {
  yield content
}

async function* contentOf(path: string): AsyncGenerator<Buffer> {
  const handle = await open(path, constants.O_RDONLY | constants.O_NOFOLLOW).catch((error: NodeJS.ErrnoException) => {
    if (error.code === 'ENOENT' || error.code === 'ELOOP') return undefined
    throw unavailable(`The file ${path} cannot be read for the backup (${error.code}).`, error)
  })
  if (!handle) return
  try {
    for (;;) {
      const block = Buffer.allocUnsafe(1 << 20)
      const { bytesRead } = await handle.read(block, 0, block.length, null)
      if (bytesRead === 0) return
      yield block.subarray(0, bytesRead)
    }
  } finally {
    await handle.close()
  }
}

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
  if (
    !known.has(path.split('/')[0]!) ||
    path.includes('\0') ||
    path.split('/').some((step) => step === '..' || step === '.' || step === '')
  )
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
