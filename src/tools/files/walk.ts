import type { Dirent } from 'node:fs'
import { readdir } from 'node:fs/promises'
import type { DirectoryHandle } from '../../sandbox/files/directory-handle.ts'
import type { Files, Place } from './files.ts'
import { told } from './refusals.ts'

export interface Entry {
  readonly place: Place
  readonly name: string
  readonly kind: 'file' | 'folder' | 'link' | 'other'
}

/** What a folder holds, by name, without what is left alone; folders that only mounts put there included. */
export async function entriesOf(files: Files, folder: Place): Promise<Entry[]> {
  const handle = await files.enter(folder)
  try {
    return await entriesIn(files, folder, handle)
  } finally {
    await handle.close()
  }
}

/** Every entry below a folder. Links are told, never followed: what they lead to inside is met in its own place. */
export async function* walk(files: Files, start: Place, limits: WalkLimits): AsyncGenerator<Entry> {
  const ahead: { place: Place; depth: number }[] = [{ place: start, depth: 0 }]
  for (let next = ahead.pop(); next !== undefined; next = ahead.pop()) {
    const { place, depth } = next
    let entries: Entry[]
    try {
      entries = await entriesOf(files, place)
    } catch (error) {
      // What may not be entered, or is gone meanwhile, is no reason to tell nothing of the rest.
      if (depth > 0) continue
      throw error
    }
    const folders: typeof ahead = []
    for (const entry of entries) {
      limits.signal.throwIfAborted()
      if (limits.left-- <= 0) return
      yield entry
      if (entry.kind === 'folder' && depth < deepest && !files.isPassedOver(entry.name))
        folders.push({ place: entry.place, depth: depth + 1 })
    }
    ahead.push(...folders.toReversed())
  }
}

export interface WalkLimits {
  /** How many entries may still be looked at; counts down. */
  left: number
  readonly signal: AbortSignal
}

const deepest = 100

async function entriesIn(files: Files, folder: Place, handle: DirectoryHandle): Promise<Entry[]> {
  if (!files.may(await handle.stat(), 'read')) throw told({ code: 'EACCES' }, folder.path)
  const listed = await readdir(handle.at('.'), { withFileTypes: true }).catch((error: unknown) => {
    throw told(error, folder.path)
  })
  const kinds = new Map(listed.map((entry) => [entry.name, kindOf(entry)]))
  for (const root of files.roots) {
    const at = root.path.lastIndexOf('/')
    if (root.path !== '/' && (root.path.slice(0, at) || '/') === folder.path) kinds.set(root.path.slice(at + 1), 'folder')
  }
  return [...kinds]
    .toSorted(([a], [b]) => (a < b ? -1 : 1))
    .flatMap(([name, kind]) => {
      const place = files.entry(folder, name)
      return place ? [{ place, name, kind }] : []
    })
}

function kindOf(entry: Dirent): Entry['kind'] {
  if (entry.isSymbolicLink()) return 'link'
  if (entry.isDirectory()) return 'folder'
  return entry.isFile() ? 'file' : 'other'
}
