import { constants } from 'node:fs'
import { mkdir, open, rename, rm } from 'node:fs/promises'
import { posix } from 'node:path'
import { PawlError } from '../domain/error.ts'
import { type DirectoryHandle, isAbsence, noFollow, openDirectory } from './directory-handle.ts'
import type { AgentUser } from './workspace.ts'

/** Files of ours in a session home, by relative path. The home belongs to the agent, who may have left a link anywhere in it: none is ever followed. */
export interface HomeFile {
  readonly home: string
  readonly path: string
}

/** Puts a file there whole, in the place of whatever has its name; folders on the way are made. */
export async function writeHomeFile(
  { home, path }: HomeFile,
  content: string,
  options: { user: AgentUser | undefined; mode?: number },
): Promise<void> {
  const { user, mode = 0o600 } = options
  await inFolder(home, path, user, async (folder, name) => {
    const temporary = folder.at(`.${name}.pawl`)
    await rm(temporary, { force: true, recursive: true })
    const file = await open(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, mode)
    try {
      await file.writeFile(content)
      if (user) await file.chown(user.uid, user.gid)
      await file.chmod(mode)
    } finally {
      await file.close()
    }
    await replace(temporary, folder.at(name))
  })
}

/** The text of a regular file, or undefined if there is none, or it has more than `maxBytes`. */
export async function readHomeFile({ home, path }: HomeFile, maxBytes: number): Promise<string | undefined> {
  const folder = await openDirectory(posix.join(home, posix.dirname(path)))
  if (!folder) return undefined
  try {
    const file = await open(folder.at(posix.basename(path)), constants.O_RDONLY | constants.O_NONBLOCK | noFollow)
    try {
      const found = await file.stat()
      return found.isFile() && found.size <= maxBytes ? await file.readFile('utf8') : undefined
    } finally {
      await file.close()
    }
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  } finally {
    await folder.close()
  }
}

export async function removeHomeFile({ home, path }: HomeFile): Promise<void> {
  const folder = await openDirectory(posix.join(home, posix.dirname(path)))
  if (!folder) return
  try {
    await rm(folder.at(posix.basename(path)), { force: true, recursive: true })
  } finally {
    await folder.close()
  }
}

async function inFolder<T>(
  home: string,
  path: string,
  user: AgentUser | undefined,
  work: (folder: DirectoryHandle, name: string) => Promise<T>,
): Promise<T> {
  const steps = posix.normalize(path).split('/')
  const name = steps.pop() ?? ''
  if (posix.isAbsolute(path) || steps.includes('..') || name === '..' || name === '.' || name === '')
    throw new PawlError('internal', `"${path}" is no path of a file in a session home.`)
  let folder = await openDirectory(home)
  if (!folder) throw new PawlError('internal', `The session home ${home} is gone.`)
  try {
    for (const step of steps) {
      const next = await enterOrMake(folder, step, user)
      await folder.close()
      folder = next
    }
    return await work(folder, name)
  } finally {
    await folder.close()
  }
}

/** What has a folder's name and is none, a link for one, makes room for it. */
async function enterOrMake(parent: DirectoryHandle, name: string, user: AgentUser | undefined): Promise<DirectoryHandle> {
  try {
    return await parent.enter(name)
  } catch (error) {
    if (!isAbsence(error)) throw error
    await rm(parent.at(name), { force: true })
  }
  await mkdir(parent.at(name), { mode: 0o700 })
  const made = await parent.enter(name)
  if (user) await made.chown(user.uid, user.gid)
  return made
}

async function replace(from: string, to: string): Promise<void> {
  try {
    await rename(from, to)
  } catch (error) {
    if (!['EISDIR', 'ENOTEMPTY', 'EEXIST'].includes((error as NodeJS.ErrnoException).code ?? '')) throw error
    await rm(to, { force: true, recursive: true })
    await rename(from, to)
  }
}
