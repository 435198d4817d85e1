import { closeSync, fstatSync, lstatSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { posix } from 'node:path'
import { PawlError } from '../../domain/error.ts'
import type { AgentUser } from '../process/agent-user.ts'
import { type DirectoryHandle, openDirectory } from './directory-handle.ts'
import { ownPrefix } from './path-inside.ts'
import { putFile } from './put-file.ts'
import { openRegular, readRegular, readStart } from './read-file.ts'
import { removeEntry } from './remove-tree.ts'

/** Files of ours in a session home, by relative path. The home belongs to the agent, who may have left a link anywhere in it: none is ever followed. */
export interface HomeFile {
  readonly home: string
  readonly path: string
}

/** Puts a file there whole, in the place of whatever has its name; folders on the way are made. It lasts as long as a program needs it: a power cut may take it. */
export async function writeHomeFile(
  { home, path }: HomeFile,
  content: string | Uint8Array,
  options: { user: AgentUser | undefined; mode?: number },
): Promise<void> {
  const root = await openDirectory(home)
  if (!root) throw new PawlError('internal', `The session home ${home} is gone.`)
  try {
    await putFile(root, path, [typeof content === 'string' ? Buffer.from(content) : content], options.user, {
      mode: options.mode ?? 0o600,
      durably: false,
    })
  } finally {
    await root.close()
  }
}

/** What a program finds at its start, by relative path. */
interface StartFiles {
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined
  readonly firstFiles?: Readonly<Record<string, string>> | undefined
}

/** Puts several files there at once, and of the first ones those in whose place there is nothing. */
export async function writeHomeFiles(
  home: string,
  { files, firstFiles = {} }: StartFiles,
  options: { user: AgentUser | undefined },
): Promise<void> {
  const write = ([path, content]: readonly [string, string | Uint8Array]) => writeHomeFile({ home, path }, content, options)
  const all = { ...files, ...(await lackingIn(home, firstFiles)) }
  // The first one of a folder makes it; two at once would be in each other's way.
  const folders = [...Map.groupBy(Object.entries(all), ([path]) => posix.dirname(path)).values()]
  for (const [first] of folders) if (first) await write(first)
  await Promise.all(folders.flatMap((same) => same.slice(1)).map(write))
}

async function lackingIn(home: string, files: Readonly<Record<string, string>>): Promise<Record<string, string>> {
  const lacking: Record<string, string> = {}
  for (const [path, content] of Object.entries(files)) {
    const folder = await openDirectory(posix.join(home, posix.dirname(path)))
    if (!folder || !lstatSync(folder.at(posix.basename(path)), { throwIfNoEntry: false })) lacking[path] = content
    await folder?.close()
  }
  return lacking
}

/** The text of a regular file, or undefined if there is none, or it has more than `maxBytes`. */
export const readHomeFile = (place: HomeFile, maxBytes: number): Promise<string | undefined> =>
  inFolderOf(place, (folder, name) => readRegular(folder, name, maxBytes)?.toString('utf8'))

/** The size of a regular file with at most `maxBytes` of its beginning, or undefined if there is none. */
export const readHomeFileStart = (place: HomeFile, maxBytes: number): Promise<{ size: number; text: string } | undefined> =>
  inFolderOf(place, (folder, name) => {
    const file = openRegular(folder, name)
    if (file === undefined) return undefined
    try {
      const { size } = fstatSync(file)
      const start = Buffer.alloc(Math.min(size, maxBytes))
      return { size, text: start.toString('utf8', 0, readStart(file, start)) }
    } finally {
      closeSync(file)
    }
  })

async function inFolderOf<T>(
  { home, path }: HomeFile,
  use: (folder: DirectoryHandle, name: string) => T | Promise<T>,
): Promise<T | undefined> {
  const folder = await openDirectory(posix.join(home, posix.dirname(path)))
  if (!folder) return undefined
  try {
    const name = posix.basename(path)
    // Mostly there is none, which is told at once.
    return lstatSync(folder.at(name), { throwIfNoEntry: false }) ? await use(folder, name) : undefined
  } finally {
    await folder.close()
  }
}

/** Removes what a process that was killed while it put a file there has left beside its place. Only for homes in which nobody puts anything. */
export async function removeUnfinished({ home, path }: HomeFile): Promise<void> {
  const folder = await openDirectory(posix.join(home, posix.dirname(path)))
  if (!folder) return
  try {
    for (const name of await readdir(folder.at('.')))
      if (name.startsWith(ownPrefix) && name.endsWith('.tmp')) await removeEntry(folder, name)
  } finally {
    await folder.close()
  }
}

/** Also a folder that the agent has put there. */
export const removeHomeFile = async (place: HomeFile): Promise<void> => inFolderOf(place, removeEntry)
