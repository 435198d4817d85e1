import { randomUUID } from 'node:crypto'
import {
  closeSync,
  constants,
  fchmodSync,
  fchownSync,
  fsync,
  mkdirSync,
  openSync,
  renameSync,
  write,
  writeFileSync,
} from 'node:fs'
import { promisify } from 'node:util'
import type { AgentUser } from '../process/agent-user.ts'
import { type DirectoryHandle, noFollow, openIn } from './directory-handle.ts'
import { ownPrefix, partsOf } from './path-inside.ts'
import { removeEntry } from './remove-tree.ts'
import { temporarySuffix } from './temporary.ts'

export interface HowToPut {
  readonly mode?: number
  /** False for what is written anew for every start of a program: waiting for the disk would only cost time. */
  readonly durably?: boolean
}

type Content = Iterable<Uint8Array> | AsyncIterable<Uint8Array>

/**
 * Puts a file into a home that belongs to the agent, and answers its size: whole or not at all, on disk when this resolves, readable by its owner alone. Folders on
 * the way are made; a link or file in the place of one is removed, never followed. If `content` throws, the old file stays.
 */
export async function putFile(
  root: DirectoryHandle,
  path: string,
  content: Content,
  owner: AgentUser | undefined,
  how: HowToPut = {},
): Promise<number> {
  const [name, ...folders] = partsOf(path).toReversed()
  const walk = async (parent: DirectoryHandle, below: readonly string[]): Promise<number> => {
    const [folder, ...rest] = below
    if (folder === undefined) return writeIn(parent, name!, content, owner, how)
    const directory = await realDirectory(parent, folder, owner, how)
    try {
      return await walk(directory, rest)
    } finally {
      await directory.close()
    }
  }
  return walk(root, folders.toReversed())
}

async function realDirectory(
  parent: DirectoryHandle,
  name: string,
  owner: AgentUser | undefined,
  { durably = true }: HowToPut,
): Promise<DirectoryHandle> {
  const there = await openIn(parent, name)
  if (there) return there
  await removeEntry(parent, name)
  mkdirSync(parent.at(name), { mode: 0o700 })
  const made = await openIn(parent, name)
  if (!made) throw new Error(`the folder ${name} did not stay where it was made`)
  if (owner) await made.chown(owner.uid, owner.gid)
  if (durably) await syncDirectory(parent)
  return made
}

async function writeIn(
  parent: DirectoryHandle,
  name: string,
  content: Content,
  owner: AgentUser | undefined,
  { mode = 0o600, durably = true }: HowToPut,
): Promise<number> {
  const temporaryName = `${ownPrefix}${name.slice(0, 100)}${temporarySuffix()}`
  const temporary = parent.at(temporaryName)
  let size = 0
  try {
    const file = openSync(temporary, constants.O_WRONLY | constants.O_CREAT | constants.O_EXCL | noFollow, 0o600)
    try {
      for await (const bytes of content) {
        await writeWhole(file, bytes)
        size += bytes.length
      }
      if (owner) fchownSync(file, owner.uid, owner.gid)
      if (mode !== 0o600) fchmodSync(file, mode)
      if (durably) await onDisk(file)
    } finally {
      closeSync(file)
    }
    takePlace(parent, temporary, name)
  } catch (error) {
    await removeEntry(parent, temporaryName)
    throw error
  }
  if (durably) await syncDirectory(parent)
  return size
}

// What only looks up or changes a name is done at once: handing it to another thread costs twenty times as much.
const onDisk = promisify(fsync)
const writeSome = promisify(write)
const atOnce = 64 * 1024

async function writeWhole(file: number, bytes: Uint8Array): Promise<void> {
  if (bytes.length <= atOnce) return writeFileSync(file, bytes)
  for (let done = 0; done < bytes.length; ) done += (await writeSome(file, bytes, done, bytes.length - done)).bytesWritten
}

/** A directory in the place of the file cannot be replaced by it, so it moves aside. */
function takePlace(parent: DirectoryHandle, temporary: string, name: string): void {
  try {
    renameSync(temporary, parent.at(name))
  } catch (error) {
    if ((error as { code?: string }).code !== 'EISDIR') throw error
    renameSync(parent.at(name), parent.at(`${ownPrefix}${randomUUID()}.aside`))
    renameSync(temporary, parent.at(name))
  }
}

async function syncDirectory(directory: DirectoryHandle): Promise<void> {
  const handle = openSync(directory.at('.'), constants.O_RDONLY | constants.O_DIRECTORY)
  try {
    await onDisk(handle)
  } finally {
    closeSync(handle)
  }
}
