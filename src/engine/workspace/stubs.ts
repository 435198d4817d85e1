import { mkdirSync, rmdirSync } from 'node:fs'
import { rmdir } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { type DirectoryHandle, isAbsence, openDirectory, openIn } from '../../files/directory-handle.ts'

/** Makes the empty folders that are covered while a run lasts. What somebody made meanwhile is theirs. They belong to whom their parent belongs. */
export async function makeStubs(root: string, stubs: readonly string[]): Promise<void> {
  await eachIn(root, stubs, async (folder, name) => {
    try {
      mkdirSync(folder.at(name), { mode: 0o755 })
    } catch (error) {
      if ((error as { code?: string }).code === 'EEXIST') return
      throw error
    }
    if (process.getuid?.() !== 0) return
    const owner = await folder.stat()
    const made = await openIn(folder, name)
    await made?.chown(owner.uid, owner.gid)
    await made?.close()
  })
}

/**
 * Takes them away again, if they are still empty: whatever has got into one is looked at like anything else. Mostly that is a matter of microseconds, less than it takes to
 * ask another thread. Where the file system takes its time for each, other threads do many at once.
 */
export async function removeStubs(root: string, stubs: readonly string[]): Promise<void> {
  const since = performance.now()
  await eachIn(root, stubs, async (folder, name) => {
    try {
      if (performance.now() - since < waitMs) rmdirSync(folder.at(name))
      else await rmdir(folder.at(name))
    } catch (error) {
      if (!isAbsence(error) && (error as { code?: string }).code !== 'ENOTEMPTY') throw error
    }
  })
}

const waitMs = 2

async function eachIn(
  root: string,
  stubs: readonly string[],
  act: (folder: DirectoryHandle, name: string) => Promise<void>,
): Promise<void> {
  for (const [parent, inIt] of Map.groupBy(stubs, (path) => dirname(path))) {
    const folder = await openDirectory(join(root, parent))
    if (!folder) continue
    try {
      // All of them have ended before the folder is closed: its number will be another's.
      const done = await Promise.allSettled(inIt.map((path) => act(folder, basename(path))))
      for (const one of done) if (one.status === 'rejected') throw one.reason
    } finally {
      await folder.close()
    }
  }
}
