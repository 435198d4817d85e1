import { closeSync, constants, fstatSync, lstatSync, opendirSync, openSync, realpathSync, statSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { SessionFiles } from '../../agents/port.ts'
import { compileGlob } from '../../domain/rule/glob.ts'
import { type DirectoryHandle, isAbsence, noFollow, openDirectory, openIn } from '../../sandbox/files/directory-handle.ts'
import { ownPrefix, partsOf } from '../../sandbox/files/path-inside.ts'
import { removeEntry } from '../../sandbox/files/remove-tree.ts'
import { takingTurns } from '../base/turns.ts'

/**
 * A home whose files we read. That of a session belongs to the agent, who may put a link to anything of ours in the place of any file or folder: there no link
 * is followed, and a file that has a second name elsewhere is not read. The home of our own user is read as its programs would read it.
 */
export interface Home {
  readonly root: DirectoryHandle
  readonly isOurs: boolean
}

export interface FoundFile {
  /** Relative to the home. */
  readonly path: string
  readonly size: number
  readonly mtimeMs: number
}

/** Where one layout leads. One call is one look. */
export type Look = (home: Home, pattern: string, which?: Pick<SessionFiles, 'oldest'>) => Promise<FoundFile | undefined>

/** Undefined if there is no such directory. Up to the home itself the path is ours. */
export async function openHome(path: string, options: { isOurs?: boolean } = {}): Promise<Home | undefined> {
  const root = await ifThere(() => openDirectory(realpathSync.native(path)), isAbsence)
  return root && { root, isOurs: options.isOurs ?? false }
}

/** True if a program has left something in it: what we put there for it says nothing. */
export const isUsed = async (path: string) =>
  (await readdir(path)).some((name) => !name.startsWith(ownPrefix) && name !== '.gitconfig')

/** True if the id is one that this program gives, whole. Only then may it become part of a path. */
export const isIdOf = (files: SessionFiles, vendorId: string) => files.id.exec(vendorId)?.[0] === vendorId

/** The file of exactly this conversation: the layouts in their order, up to the first that leads to one. */
export async function findConversation(
  home: Home,
  files: SessionFiles,
  vendorId: string,
  look: Look = lookFor,
): Promise<FoundFile | undefined> {
  if (!isIdOf(files, vendorId)) return undefined
  for (const pattern of files.layouts(vendorId)) {
    const found = await look(home, pattern, files)
    if (found) return found
  }
  return undefined
}

/** What the file of a conversation is like now: another answer later means that somebody has written it. Undefined if it is not there. */
export async function conversationMark(path: string, files: SessionFiles, vendorId: string): Promise<string | undefined> {
  const home = await openHome(path)
  if (!home) return undefined
  try {
    const found = await findConversation(home, files, vendorId)
    if (!found) return undefined
    const all = [found]
    for (const path of files.rewritten?.with ?? []) all.push((await lookFor(home, path)) ?? { path, size: 0, mtimeMs: 0 })
    return all.map((file) => `${file.path} ${file.size} ${file.mtimeMs}`).join('\n')
  } finally {
    await home.root.close()
  }
}

/** The file that a pattern means; of several the one written last, or the first by its name. An empty file is none: it is what a power cut leaves. */
export const lookFor: Look = async (home, pattern, { oldest = false } = {}) => {
  const isBetter = (path: string, mtimeMs: number, best: FoundFile) => (oldest ? path < best.path : mtimeMs > best.mtimeMs)
  let best: FoundFile | undefined
  let left = mostEntries
  const turn = takingTurns()
  const walk = async (directory: DirectoryHandle, [name = '', ...rest]: readonly string[], prefix: string): Promise<void> => {
    for (const entry of await namesLike(directory, name)) {
      if (left-- <= 0) return
      await turn()
      const path = `${prefix}${entry}`
      if (rest.length > 0) await inDirectory(home, directory, entry, (below) => walk(below, rest, `${path}/`))
      else {
        const found = await statIn(home, directory, entry)
        if (found?.isFile() && found.size > 0 && (!best || isBetter(path, found.mtimeMs, best)))
          best = { path, size: found.size, mtimeMs: found.mtimeMs }
      }
    }
  }
  await walk(home.root, partsOf(pattern), '')
  return best
}

/** Every regular file below a folder of the home, in the order of their names. */
export async function filesBelow(home: Home, folder: string, options: { most: number }): Promise<string[]> {
  const found: string[] = []
  let left = mostEntries
  const turn = takingTurns()
  const walk = async (directory: DirectoryHandle, prefix: string, depth: number): Promise<void> => {
    for (const name of (await entriesOf(directory)).toSorted()) {
      if (found.length >= options.most || left-- <= 0) return
      if (name.startsWith(ownPrefix)) continue
      await turn()
      const entry = await statIn(home, directory, name)
      if (entry?.isFile()) found.push(`${prefix}${name}`)
      else if (entry?.isDirectory() && depth < 16)
        await inDirectory(home, directory, name, (below) => walk(below, `${prefix}${name}/`, depth + 1))
    }
  }
  await inFolder(home, partsOf(folder), (directory) => walk(directory, `${partsOf(folder).join('/')}/`, 0))
  return found
}

/** Opens a regular file for reading, and hands out its descriptor. Undefined if there is none that may be read; never waits for the other end of a pipe. */
export async function withFile<T>(
  home: Home,
  path: string,
  use: (file: number, size: number) => Promise<T>,
): Promise<T | undefined> {
  const parts = partsOf(path)
  const flags = constants.O_RDONLY | constants.O_NONBLOCK | (home.isOurs ? 0 : noFollow)
  return inFolder(home, parts.slice(0, -1), async (directory) => {
    const file = await ifThere(async () => openSync(directory.at(parts.at(-1)!), flags))
    if (file === undefined) return undefined
    try {
      const found = fstatSync(file)
      if (!found.isFile() || (found.nlink !== 1 && !home.isOurs)) return undefined
      return await use(file, found.size)
    } finally {
      closeSync(file)
    }
  })
}

/** Removes whatever has that name, if it is there: the agent may have put a link or a folder in the place of the file. */
export async function removeFile(home: Home, path: string): Promise<void> {
  const parts = partsOf(path)
  await inFolder(home, parts.slice(0, -1), (directory) => removeEntry(directory, parts.at(-1)!))
}

/** More than a program has reason to keep. An agent that makes a hundred thousand folders to keep us busy loses its conversation, not our time. */
const mostEntries = 2_000

async function namesLike(directory: DirectoryHandle, pattern: string): Promise<string[]> {
  if (!pattern.includes('*')) return [pattern]
  const like = compileGlob(pattern)
  return (await entriesOf(directory)).filter((name) => like.matches(name) && !name.startsWith(ownPrefix)).toSorted()
}

/** Read at once, which costs less than to ask another thread, unless an agent has put so much there that everybody else would wait for it. */
async function entriesOf(directory: DirectoryHandle): Promise<string[]> {
  const entries = opendirSync(directory.at('.'))
  const names: string[] = []
  try {
    for (let entry = entries.readSync(); entry; entry = entries.readSync()) {
      if (names.push(entry.name) > mostAtOnce) return await readdir(directory.at('.'))
    }
    return names
  } finally {
    entries.closeSync()
  }
}

const mostAtOnce = 200

const statIn = (home: Home, directory: DirectoryHandle, name: string) =>
  ifThere(async () => (home.isOurs ? statSync : lstatSync)(directory.at(name)))

async function inFolder<T>(
  home: Home,
  parts: readonly string[],
  use: (directory: DirectoryHandle) => Promise<T>,
): Promise<T | undefined> {
  const walk = async (directory: DirectoryHandle, [name, ...rest]: readonly string[]): Promise<T | undefined> =>
    name === undefined ? use(directory) : inDirectory(home, directory, name, (below) => walk(below, rest))
  return walk(home.root, parts)
}

async function inDirectory<T>(
  home: Home,
  parent: DirectoryHandle,
  name: string,
  use: (directory: DirectoryHandle) => Promise<T>,
): Promise<T | undefined> {
  const directory = await ifThere(async () =>
    home.isOurs ? openDirectory(realpathSync.native(parent.at(name))) : openIn(parent, name),
  )
  if (!directory) return undefined
  try {
    return await use(directory)
  } finally {
    await directory.close()
  }
}

/** What may not be read is not there for us either. */
const isNotForUs = (error: unknown) => isAbsence(error) || (error as { code?: string }).code === 'EACCES'

/** The calls in it wait: each takes a few microseconds, and to hand it to another thread, while an agent keeps the machine busy, a millisecond. */
async function ifThere<T>(act: () => Promise<T>, isMissing: (error: unknown) => boolean = isNotForUs): Promise<T | undefined> {
  try {
    return await act()
  } catch (error) {
    if (isMissing(error)) return undefined
    throw error
  }
}
