import { closeSync, constants, fchmodSync, fchownSync, fstatSync, lstatSync, openSync, readlinkSync, type Stats } from 'node:fs'
import { basename, dirname } from 'node:path'
import { hostPath } from '../../domain/base/path.ts'

/** A directory held open: names in it stay names in it, whatever happens to the path that led there. */
export interface DirectoryHandle {
  /** A path to an entry of this very directory. Only its last part may be a link; open it with `noFollow`, or use calls that do not follow. */
  at(name: string): string
  /** The same for a name that may be no text. */
  atBytes(name: Buffer): Buffer
  stat(): Promise<Stats>
  chmod(mode: number): Promise<void>
  chown(uid: number, gid: number): Promise<void>
  close(): Promise<void>
}

export const noFollow = constants.O_NOFOLLOW

/** The directory that really is at this path: undefined if a part of the path is missing, or is a link or a file. */
export async function openDirectory(path: string): Promise<DirectoryHandle | undefined> {
  return (await openAtOnce(path)) ?? (await walkTo(path))
}

/** The kernel knows where a directory is that is open: if that is this very path, no link was on the way. Undefined if it has another name for it, or none. */
async function openAtOnce(path: string): Promise<DirectoryHandle | undefined> {
  if (process.platform !== 'linux') return undefined
  let directory: DirectoryHandle | undefined
  try {
    directory = await enter(path)
    if (readlinkSync(directory.at('').slice(0, -1)) === hostPath(path)) return directory
  } catch {
    // To walk there tells why.
  }
  await directory?.close()
  return undefined
}

/** From the root of the file system down, one real directory at a time. */
async function walkTo(path: string): Promise<DirectoryHandle | undefined> {
  let directory: DirectoryHandle | undefined = await enter('/')
  for (const name of path.split('/')) {
    if (name === '' || name === '.') continue
    const parent: DirectoryHandle = directory
    try {
      directory = await openIn(parent, name)
    } finally {
      await parent.close()
    }
    if (!directory) return undefined
  }
  return directory
}

/** The directory of that name in an open one. Undefined if it is missing, or is a link or a file. */
export async function openIn(parent: DirectoryHandle, name: string | Buffer): Promise<DirectoryHandle | undefined> {
  try {
    return await enter(typeof name === 'string' ? parent.at(name) : parent.atBytes(name))
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/** Uses the directory that really is at this path, and closes it then. Undefined if there is none. */
export async function inFolder<T>(path: string, use: (folder: DirectoryHandle) => T | Promise<T>): Promise<T | undefined> {
  const folder = await openDirectory(path)
  if (!folder) return undefined
  try {
    return await use(folder)
  } finally {
    await folder.close()
  }
}

/** The same with the directory that holds an entry. */
export const inFolderOf = <T>(
  path: string,
  use: (folder: DirectoryHandle, name: string) => T | Promise<T>,
): Promise<T | undefined> => inFolder(dirname(path), (folder) => use(folder, basename(path)))

/** Has anything that name in an open directory? A link to nowhere has. */
export const isThere = (folder: DirectoryHandle, name: string): boolean =>
  lstatSync(folder.at(name), { throwIfNoEntry: false }) !== undefined

/** What an open, a look or a removal says where there is no such entry, or not of that kind. */
export const isAbsence = (error: unknown) => ['ENOENT', 'ENOTDIR', 'ELOOP'].includes((error as { code?: string }).code ?? '')

/** The calls wait: one on a folder takes a few microseconds, and handing it to another thread ten times that. */
async function enter(path: string | Buffer): Promise<DirectoryHandle> {
  if (process.platform !== 'linux' && lstatSync(path).isSymbolicLink())
    throw Object.assign(new Error(`${path} is a link`), { code: 'ELOOP' })
  let fd = openSync(path, constants.O_RDONLY | constants.O_DIRECTORY | noFollow)
  // Elsewhere there is no way to name an entry by its directory's handle: the check above is all there is.
  const here = () => (process.platform === 'linux' ? `/proc/self/fd/${fd}/` : `${path}/`)
  return {
    at: (name) => `${here()}${name}`,
    atBytes: (name) => Buffer.concat([Buffer.from(here()), name]),
    stat: async () => fstatSync(fd),
    chmod: async (mode) => fchmodSync(fd, mode),
    chown: async (uid, gid) => fchownSync(fd, uid, gid),
    async close() {
      const closing = fd
      // The number will be somebody else's.
      fd = -1
      if (closing !== -1) closeSync(closing)
    },
  }
}
