import { type BigIntStats, constants } from 'node:fs'
import { type FileHandle, lstat, mkdir, open, rename } from 'node:fs/promises'
import { denied, invalid, PawlError } from '../../domain/error.ts'
import { type DirectoryHandle, noFollow, openIn } from '../../sandbox/files/directory-handle.ts'
import { removeEntry } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import type { Files, Place } from './files.ts'
import { changedMeanwhile, noRight, told } from './refusals.ts'

/** Opens a regular file that lies where it was found, and gives it to `use`. */
export async function withFile<T>(
  files: Files,
  place: Place,
  use: (file: FileHandle, stats: BigIntStats) => Promise<T>,
): Promise<T> {
  return inFolderOf(files, place, async (folder, name) => {
    // Opening a pipe or a device may do something already.
    mustBeFile(await lstat(folder.at(name), { bigint: true }), place)
    const file = await open(folder.at(name), constants.O_RDONLY | constants.O_NONBLOCK | noFollow)
    try {
      const stats = await file.stat({ bigint: true })
      mustBeFile(stats, place)
      if (!files.may(numbers(stats), 'read')) throw noRight(place.path)
      // Its other name may lie anywhere, and what a read-only folder holds nobody here has put there.
      if (stats.nlink > 1n && place.root.mode === 'rw')
        throw denied(`${place.path} has another name elsewhere (a hard link), so it is not read; copy it and read the copy.`)
      return await use(file, stats)
    } finally {
      await file.close()
    }
  })
}

/** The whole of a file that is not larger than `most`. */
export function readWhole(files: Files, place: Place, most: number): Promise<{ bytes: Buffer; stats: BigIntStats }> {
  return withFile(files, place, async (file, stats) => {
    if (stats.size > BigInt(most)) throw tooLarge(place, Number(stats.size), most)
    // What grows while it is read ends where it ended when it was opened.
    const buffer = Buffer.alloc(Number(stats.size))
    for (let size = 0; size < buffer.length; ) {
      const { bytesRead } = await file.read(buffer, size, buffer.length - size, size)
      if (bytesRead === 0) return { bytes: buffer.subarray(0, size), stats }
      size += bytesRead
    }
    return { bytes: buffer, stats }
  })
}

export const tooLarge = ({ path }: Place, size: number, most: number) =>
  new PawlError('unsupported', `${path} has ${size} bytes; this tool takes at most ${most}.`)

/**
 * Puts a file in its place, whole or not at all, and makes missing folders. What was there under another name too keeps its content there. `before` is
 * what it must still be.
 */
export async function writeWhole(files: Files, place: Place, bytes: Uint8Array, before?: BigIntStats): Promise<void> {
  files.mustBeWritable(place)
  await inFolderOf(
    files,
    place,
    async (folder, name) => {
      if (!files.may(await folder.stat(), 'write')) throw noRight(place.path)
      const there = await existing(files, folder, name, place)
      if (before && !isSame(before, there)) throw changedMeanwhile(place.path)
      const temporaryName = `.pawl${temporarySuffix()}`
      try {
        await writeNew(files, folder, temporaryName, bytes, there)
        if (!isSame(there, await statIfAny(folder.at(name)))) throw changedMeanwhile(place.path)
        await rename(folder.at(temporaryName), folder.at(name))
      } catch (error) {
        await removeEntry(folder, temporaryName)
        throw error
      }
    },
    (parent, name) => makeFolder(files, parent, name, place),
  )
}

async function writeNew(
  files: Files,
  folder: DirectoryHandle,
  name: string,
  bytes: Uint8Array,
  there?: BigIntStats,
): Promise<void> {
  const file = await open(folder.at(name), constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600)
  try {
    await file.writeFile(bytes)
    const owner = files.user ?? (isRoot() ? (there ? numbers(there) : await folder.stat()) : undefined)
    if (owner) await file.chown(owner.uid, owner.gid)
    await file.chmod(there ? Number(there.mode) & 0o777 : 0o644)
  } finally {
    await file.close()
  }
}

async function makeFolder(files: Files, parent: DirectoryHandle, name: string, place: Place): Promise<void> {
  const above = await parent.stat()
  if (!files.may(above, 'write')) throw noRight(place.path)
  await mkdir(parent.at(name), { mode: 0o755 })
  const owner = files.user ?? (isRoot() ? above : undefined)
  const made = owner && (await openIn(parent, name))
  try {
    if (made && owner && (await made.stat()).uid === process.getuid?.()) await made.chown(owner.uid, owner.gid)
  } finally {
    await made?.close()
  }
}

/** What is to be replaced, if we may. */
async function existing(files: Files, folder: DirectoryHandle, name: string, place: Place): Promise<BigIntStats | undefined> {
  const there = await statIfAny(folder.at(name))
  if (!there) return undefined
  mustBeFile(there, place)
  const file = await open(folder.at(name), constants.O_WRONLY | constants.O_NONBLOCK | noFollow)
  try {
    const stats = await file.stat({ bigint: true })
    mustBeFile(stats, place)
    if (!files.may(numbers(stats), 'write')) throw noRight(place.path)
    return stats
  } finally {
    await file.close()
  }
}

async function inFolderOf<T>(
  files: Files,
  place: Place,
  act: (folder: DirectoryHandle, name: string) => Promise<T>,
  make?: (parent: DirectoryHandle, name: string) => Promise<void>,
): Promise<T> {
  const name = place.names.at(-1)
  if (name === undefined) throw invalid(`${place.path} is a folder, not a file.`)
  const folder = await files.enter({ ...place, names: place.names.slice(0, -1) }, make)
  try {
    return await act(folder, name)
  } catch (error) {
    throw told(error, place.path)
  } finally {
    await folder.close()
  }
}

function mustBeFile(stats: BigIntStats, { path }: Place): void {
  if (stats.isFile()) return
  if (stats.isSymbolicLink()) throw changedMeanwhile(path)
  throw invalid(`${path} is ${stats.isDirectory() ? 'a folder' : 'a pipe, socket or device'}, not a file.`)
}

const statIfAny = async (path: string) => {
  try {
    return await lstat(path, { bigint: true })
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code === 'ENOENT') return undefined
    throw error
  }
}

const isSame = (one: BigIntStats | undefined, other: BigIntStats | undefined) =>
  one?.ino === other?.ino && one?.mtimeNs === other?.mtimeNs && one?.size === other?.size
const numbers = ({ uid, gid, mode }: BigIntStats) => ({ uid: Number(uid), gid: Number(gid), mode: Number(mode) })
const isRoot = () => process.getuid?.() === 0
