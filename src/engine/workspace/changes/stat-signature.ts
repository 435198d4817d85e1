import { createHash } from 'node:crypto'
import { lstatSync } from 'node:fs'
import { walkTree } from '../../../sandbox/files/walk-tree.ts'
import { openWorkspace } from '../same-place.ts'

/** What a folder looks like from outside of its files: two that are the same mean that nothing was changed between them. */
export interface Glance {
  readonly digest: string
  /** No file at all. */
  readonly isEmpty: boolean
}

/** To look at more takes longer than it saves. */
const mostEntries = 2_000
/** The kernel's own clock stands still for so long: what was written just now may be written again unseen. */
const unsteadyMs = 30

/**
 * Names, kinds, sizes and times of all files, as git would compare them; undefined if there are many, or if some were written a moment ago. Folders do not count, nor what git
 * keeps for itself at the top: neither is a change of files.
 */
export async function glanceAt(source: string, home: string): Promise<Glance | undefined> {
  const folder = await openWorkspace(source, home).catch(() => undefined)
  if (!folder) return undefined
  const hash = createHash('sha256')
  const steadyBefore = BigInt(Date.now() - unsteadyMs) * 1_000_000n
  let entries = 0
  let files = 0
  let isKnown = true
  try {
    const { isPartial } = await walkTree(folder, ({ path, name, folder: parent, stats }) => {
      if (++entries > mostEntries) isKnown = false
      else if (stats.isDirectory()) return path === '.git' ? 'past' : 'in'
      else {
        const { mode, size, ino, mtimeNs, ctimeNs } = lstatSync(parent.at(name), { bigint: true })
        if (ctimeNs > steadyBefore) isKnown = false
        hash.update(`${path}\0${mode} ${size} ${ino} ${mtimeNs} ${ctimeNs}\0`)
        files++
      }
      return isKnown ? 'past' : 'end'
    })
    return isKnown && !isPartial ? { digest: hash.digest('hex'), isEmpty: files === 0 } : undefined
  } catch {
    // A file that went away: git tells it better.
    return undefined
  } finally {
    await folder.close()
  }
}
