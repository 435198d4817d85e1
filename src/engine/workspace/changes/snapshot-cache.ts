import { renameSync } from 'node:fs'
import { rm } from 'node:fs/promises'
import { join } from 'node:path'
import { removeTree } from '../../../sandbox/files/remove-tree.ts'
import type { Picture } from './snapshot.ts'
import { removeStore, shelfName } from './store-folder.ts'

/** Workspaces as runs left them: where nobody has changed anything since, the next run need not picture it again. */
export interface PictureShelf {
  /** What may be put there when the run is settled: until then a crash needs the folder where it is. */
  offer(folder: string, offered: Offered): void
  /** The run is settled: its folder goes to the shelf, or is removed if nothing was offered. */
  clear(folder: string): Promise<void>
  /** Moves a folder to where a run wants it, replacing what is there, if the workspace still looks as it did then. What does not fit is thrown away. */
  take(workspace: string, folder: string, digest: string): Picture | undefined
}

export interface Offered {
  readonly workspace: string
  readonly picture: Picture
  /** Of the glance at the workspace when it was pictured. */
  readonly digest: string
}

const mostKept = 32

/** Of this process alone: what lies there when it is gone is swept with all that runs have left. */
export function createPictureShelf(home: string): PictureShelf {
  const offers = new Map<string, Offered>()
  const kept = new Map<string, Offered & { readonly folder: string }>()
  let number = 0
  const drop = async (workspace: string) => {
    const found = kept.get(workspace)
    kept.delete(workspace)
    if (found) await removeTree(found.folder)
  }
  return {
    offer(folder, offered) {
      offers.set(folder, offered)
    },
    async clear(folder) {
      const offered = offers.get(folder)
      offers.delete(folder)
      if (!offered) return removeStore(folder)
      await rm(`${folder}.json`, { force: true })
      const place = join(home, 'changes', shelfName(++number))
      renameSync(folder, place)
      await drop(offered.workspace)
      kept.set(offered.workspace, { ...offered, folder: place })
      const [oldest] = kept.keys()
      if (kept.size > mostKept && oldest !== undefined) await drop(oldest)
    },
    take(workspace, folder, digest) {
      const found = kept.get(workspace)
      if (found?.digest !== digest) {
        drop(workspace).catch(() => undefined)
        return undefined
      }
      kept.delete(workspace)
      renameSync(found.folder, folder)
      return found.picture
    },
  }
}
