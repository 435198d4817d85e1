import { constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, rename, symlink, unlink } from 'node:fs/promises'
import { fp } from '../../base/failpoint.ts'
import { type DirectoryHandle, isAbsence, noFollow } from './directory-handle.ts'
import type { Entry } from './entry.ts'

/**
 * Puts one entry of the copy into a directory of the original, in the place of `there`, and gives it to whom the old one or the directory belongs. Until it is whole it has
 * `temporaryName`, by which whoever comes after a crash finds it.
 */
export async function putEntry(
  from: string,
  parent: DirectoryHandle,
  name: string,
  entry: Entry,
  there: Entry | undefined,
  temporaryName: string,
): Promise<void> {
  const to = parent.at(name)
  if (entry.kind === 'directory') {
    const owner = await parent.stat()
    if (there) await unlink(to)
    await mkdir(to, { mode: 0o700 })
    await withFile(to, constants.O_RDONLY | constants.O_DIRECTORY, async (made) => {
      await made.chown(owner.uid, owner.gid)
      await made.chmod(entry.mode)
    })
    return
  }
  const temporary = parent.at(temporaryName)
  await removeUnfinished(parent, temporaryName)
  try {
    // A link stays ours: it can be given away only by its name, which somebody else may have put on another file by then.
    if (entry.kind === 'link') await symlink(entry.target ?? '', temporary)
    else await copyRegularFile(from, temporary, entry.mode, await ownerOf(to, parent))
    await fp('entry.put')
    await rename(temporary, to)
  } catch (error) {
    await removeUnfinished(parent, temporaryName).catch(() => undefined)
    throw error
  }
}

/** Removes what was being put into a directory when Pawl was killed. Not `rm`, which would remove a folder of that name by its path. */
export async function removeUnfinished(parent: DirectoryHandle, temporaryName: string): Promise<void> {
  await unlink(parent.at(temporaryName)).catch((error: unknown) => {
    if (!isAbsence(error)) throw error
  })
}

/** The mode of a directory that may have become something else meanwhile. */
export const setDirectoryMode = (path: string, mode: number) =>
  withFile(path, constants.O_RDONLY | constants.O_DIRECTORY, (directory) => directory.chmod(mode))

export async function sameBytes(a: string, entryA: Entry, b: string, entryB: Entry): Promise<boolean> {
  if (entryA.kind !== entryB.kind) return false
  if (entryA.kind === 'link') return entryA.target === entryB.target
  if (entryA.kind !== 'file' || entryA.size !== entryB.size) return false
  return withRegularFile(a, (one) => withRegularFile(b, (other) => sameText(one, other)))
}

async function copyRegularFile(from: string, to: string, mode: number, owner: { uid: number; gid: number }): Promise<void> {
  await withRegularFile(from, (source) =>
    withFile(to, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL, async (made) => {
      await copyBytes(source, made)
      await made.chown(owner.uid, owner.gid)
      await made.chmod(mode)
    }),
  )
}

const ownerOf = (path: string, parent: DirectoryHandle) => lstat(path).catch(() => parent.stat())

/** Never waits for the other end of a pipe, and never opens a link. */
function withRegularFile<T>(path: string, use: (file: FileHandle) => Promise<T>): Promise<T> {
  return withFile(path, constants.O_RDONLY | constants.O_NONBLOCK, async (file) => {
    if (!(await file.stat()).isFile()) throw new Error(`${path} is no longer a regular file`)
    return use(file)
  })
}

async function withFile<T>(path: string, flags: number, use: (file: FileHandle) => Promise<T>): Promise<T> {
  const file = await open(path, flags | noFollow, 0o600)
  try {
    return await use(file)
  } finally {
    await file.close()
  }
}

async function copyBytes(source: FileHandle, made: FileHandle): Promise<void> {
  const buffer = Buffer.alloc(65_536)
  for (;;) {
    const { bytesRead } = await source.read(buffer, 0, buffer.length)
    if (bytesRead === 0) return
    await made.writeFile(buffer.subarray(0, bytesRead))
  }
}

async function sameText(one: FileHandle, other: FileHandle): Promise<boolean> {
  const [left, right] = [Buffer.alloc(65_536), Buffer.alloc(65_536)]
  for (let at = 0; ; ) {
    const { bytesRead } = await one.read(left, 0, left.length, at)
    const read = await other.read(right, 0, right.length, at)
    if (bytesRead !== read.bytesRead || left.compare(right, 0, bytesRead, 0, bytesRead) !== 0) return false
    if (bytesRead === 0) return true
    at += bytesRead
  }
}
