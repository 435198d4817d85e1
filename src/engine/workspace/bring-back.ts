import { realpath, rmdir, unlink } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { isInside, workspacePath } from '../../domain/base/path.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { type DirectoryHandle, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { type Entry, entryAt, entryIfAny, sameContent, sameInCopy } from '../../sandbox/files/entry.ts'
import { putEntry, removeUnfinished, sameBytes, setDirectoryMode } from '../../sandbox/files/put-entry.ts'
import { syncFileSystems } from '../../sandbox/files/sync.ts'
import { placeAt } from './same-place.ts'
import { readTree, type Tree } from './tree.ts'

/** What became of the files that differ between a copy and its base. Directories appear only among what stayed behind. */
export interface Changes {
  readonly added: string[]
  readonly changed: string[]
  readonly removed: string[]
  /** Changed on both sides: the original stays. Stands for everything below it. */
  readonly conflicts: string[]
  /** Pipes, sockets and devices the agent made: they stay behind. */
  readonly refused: string[]
  /** What the system would not let us write, each with its reason. */
  readonly failed: { readonly path: string; readonly why: string }[]
}

/**
 * Brings what differs between the copy and `base` into the original, and `base` up to date with what was brought. Every act on the original goes
 * through the handle of a real directory below it, so that no link, whoever made it and when, leads us out; so is every file of the copy read. The copy
 * itself is found by its path each time: whoever takes the task over renames it, and then we find nothing more to bring. What was brought is on disk when this resolves.
 */
export async function bringBack(
  places: {
    readonly copy: string
    readonly original: string
    readonly without: string
    /** The agent has git directories of its own, from which git brings back what it did: those of the copy are nobody's. */
    readonly isGitPrivate?: boolean | undefined
    /** What is put into the original has this name until it is whole: that of the copy, so that what a crash left is found. */
    readonly temporaryName: string
  },
  base: Tree,
): Promise<Changes> {
  const { original, temporaryName } = places
  const copy = await realpath(places.copy)
  const mark = await placeAt(copy)
  const now = await readTree(copy)
  // Whoever takes it over or removes it gives it another name first. What was read then may be half of it, and the other half was not removed by the agent.
  if ((await placeAt(copy)) !== mark) throw new PawlError('conflict', `${copy} was taken over while it was read.`)
  const changes: Changes = { added: [], changed: [], removed: [], conflicts: [], refused: [], failed: [] }
  const stayed = new Set<string>()
  const seen = new Set<string>()
  const disks = new Map<number, string>()
  const stay = (path: string, list: string[]) => {
    stayed.add(path)
    list.push(path)
  }
  const isCovered = (path: string): boolean => path !== '.' && (stayed.has(path) || isCovered(dirname(path)))

  const isOfGit = (path: string): boolean => {
    const above = places.isGitPrivate ? /^(?:.*?\/)?\.git(?=\/|$)/.exec(path)?.[0] : undefined
    return above !== undefined && base.get(above)?.kind === 'directory'
  }

  /** One path that fails does not keep the others from being brought back. */
  const inParent = async (path: string, act: (parent: DirectoryHandle | undefined, name: string) => Promise<void>) => {
    if (isCovered(path)) return
    let parent: DirectoryHandle | undefined
    try {
      const folder = join(original, dirname(path))
      parent = await openDirectory(folder)
      if (parent && !seen.has(folder)) {
        await removeUnfinished(parent, temporaryName)
        seen.add(folder)
        // What is mounted in a workspace has a disk of its own.
        disks.set((await parent.stat()).dev, folder)
      }
      await act(parent, basename(path))
    } catch (error) {
      stayed.add(path)
      changes.failed.push({ path, why: messageOf(error) })
    } finally {
      await parent?.close()
    }
  }

  /** `use` is given the way to the entry of the copy. */
  const inCopy = async <T>(path: string, use: (from: string) => Promise<T>): Promise<T> => {
    const folder = await openDirectory(join(copy, dirname(path)))
    if (!folder) throw new Error('it is no longer in the copy')
    try {
      return await use(folder.at(basename(path)))
    } finally {
      await folder.close()
    }
  }

  const remove = (path: string, before: Entry) =>
    inParent(path, async (parent, name) => {
      const there = parent && (await entryIfAny(parent.at(name)))
      if (!there) base.delete(path)
      else if (!sameContent(before, there)) stay(path, changes.conflicts)
      else if (before.kind !== 'directory') {
        await unlink(parent.at(name))
        base.delete(path)
        changes.removed.push(path)
      } else if (await removedEmpty(parent, name)) base.delete(path)
      // The owner put something there meanwhile, and keeps it.
      else stay(path, changes.conflicts)
    })

  /** Empties a directory of what was in it from the start; something else in its place comes only if nothing remains. */
  const clear = async (path: string) => {
    const top = workspacePath(path)
    for (const [below, before] of [...base].toReversed()) if (isInside(top, workspacePath(below))) await remove(below, before)
  }

  const write = (path: string, entry: Entry) =>
    inParent(path, async (parent, name) => {
      const before = base.get(path)
      const there = parent && (await entryIfAny(parent.at(name)))
      if (entry.kind === 'directory' && there?.kind === 'directory') {
        if (parent && before && before.mode === there.mode && before.mode !== entry.mode)
          await setDirectoryMode(parent.at(name), entry.mode)
        base.set(path, entry)
        return
      }
      const isUntouched = before ? there && sameContent(before, there) : !there
      const isSame = !isUntouched && there && (await inCopy(path, (from) => sameBytes(from, entry, parent.at(name), there)))
      if (!parent || !(isUntouched || isSame)) {
        stay(path, changes.conflicts)
        return
      }
      if (!isSame) {
        await inCopy(path, (from) => putEntry(from, parent, name, entry, there, temporaryName))
        if (entry.kind !== 'directory') (before ? changes.changed : changes.added).push(path)
      }
      const { mtimeNs, mode } = await entryAt(parent.at(name))
      base.set(path, { ...entry, mtimeNs, mode })
    })

  for (const [path, entry] of now) {
    const before = base.get(path)
    if ((before && isUnchanged(before, entry)) || isCovered(path) || isOfGit(path)) continue
    if (entry.kind === 'other' || join(original, path) === places.without) stay(path, changes.refused)
    else {
      if (before?.kind === 'directory' && entry.kind !== 'directory') await clear(path)
      await write(path, entry)
    }
  }
  for (const [path, before] of [...base].toReversed()) if (!now.has(path) && !isOfGit(path)) await remove(path, before)
  await syncAll([...disks.values()])
  return { ...changes, conflicts: changes.conflicts.filter((path) => !isCovered(dirname(path))) }
}

/** Before the run is settled, and the copy with it: a power cut must not take what we said was brought back. */
async function syncAll(paths: readonly string[]): Promise<void> {
  const folders = (await Promise.all(paths.map(openDirectory))).filter((folder) => folder !== undefined)
  try {
    await syncFileSystems(folders)
  } finally {
    for (const folder of folders) await folder.close()
  }
}

/** What happens in a directory is told by its entries. */
const isUnchanged = (before: Entry, entry: Entry) =>
  sameInCopy(before, entry) || (before.kind === 'directory' && entry.kind === 'directory' && before.mode === entry.mode)

async function removedEmpty(parent: DirectoryHandle, name: string): Promise<boolean> {
  try {
    await rmdir(parent.at(name))
    return true
  } catch (error) {
    if (['ENOTEMPTY', 'EEXIST'].includes((error as { code?: string }).code ?? '')) return false
    throw error
  }
}
