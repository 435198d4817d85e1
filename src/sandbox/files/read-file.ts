import { closeSync, constants, fstatSync, openSync, readSync } from 'node:fs'
import { type DirectoryHandle, inFolderOf, isAbsence, noFollow } from './directory-handle.ts'

/**
 * Opens the regular file of that name in an open folder. Undefined if there is none: never a link, and a pipe or a device without waiting for whoever holds its other
 * end. The caller closes it.
 */
export function openRegular(folder: DirectoryHandle, name: string): number | undefined {
  let file: number
  try {
    file = openSync(folder.at(name), constants.O_RDONLY | constants.O_NONBLOCK | noFollow)
  } catch (error) {
    // A socket says ENXIO.
    if (isAbsence(error) || (error as { code?: string }).code === 'ENXIO') return undefined
    throw error
  }
  try {
    if (fstatSync(file).isFile()) return file
  } catch (error) {
    closeSync(file)
    throw error
  }
  closeSync(file)
  return undefined
}

/** The bytes of a regular file that has at most so many. Undefined for all else, and for one that grows while it is read. */
export function readRegular(folder: DirectoryHandle, name: string, most: number): Buffer | undefined {
  const file = openRegular(folder, name)
  if (file === undefined) return undefined
  try {
    const { size } = fstatSync(file)
    if (size > most) return undefined
    // One more than expected: a file that grows meanwhile is noticed.
    const buffer = Buffer.alloc(size + 1)
    const read = readStart(file, buffer)
    return read > size ? undefined : buffer.subarray(0, read)
  } finally {
    closeSync(file)
  }
}

/** The same by the path of the file: no link is followed on the way to it either. */
export const readRegularAt = (path: string, most: number): Promise<Buffer | undefined> =>
  inFolderOf(path, (folder, name) => readRegular(folder, name, most))

/** Fills the buffer from the beginning of a file; answers with how much there was. */
export function readStart(file: number, buffer: Buffer): number {
  for (let filled = 0; filled < buffer.length; ) {
    const read = readSync(file, buffer, filled, buffer.length - filled, filled)
    if (read === 0) return filled
    filled += read
  }
  return buffer.length
}

/**
 * The text of a file that a person named: links are followed, as their programs would. A pipe or a device in its place keeps nobody waiting, and more than
 * `most` is no such file.
 */
export async function readNamedFile(path: string, most = 4 * 1024 * 1024): Promise<string> {
  const file = openSync(path, constants.O_RDONLY | constants.O_NONBLOCK)
  try {
    const found = fstatSync(file)
    if (!found.isFile()) throw new Error('it is no regular file')
    if (found.size > most) throw new Error(`it has more than ${most} bytes`)
    const buffer = Buffer.alloc(found.size)
    return buffer.toString('utf8', 0, readStart(file, buffer))
  } finally {
    closeSync(file)
  }
}
