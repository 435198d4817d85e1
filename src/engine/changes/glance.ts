import { createHash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { join } from 'node:path'

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
export function glanceAt(folder: string): Glance | undefined {
  const hash = createHash('sha256')
  const steadyBefore = BigInt(Date.now() - unsteadyMs) * 1_000_000n
  const open = ['']
  let entries = 0
  let files = 0
  try {
    for (let inner = open.pop(); inner !== undefined; inner = open.pop()) {
      for (const entry of readdirSync(join(folder, inner), { withFileTypes: true, encoding: 'buffer' })) {
        if (++entries > mostEntries) return undefined
        const name = entry.name.toString('utf8')
        // What cannot be written as text cannot be looked at by it.
        if (name.includes('\ufffd')) return undefined
        const path = join(inner, name)
        if (entry.isDirectory()) {
          if (path !== '.git') open.push(path)
          continue
        }
        const { mode, size, ino, mtimeNs, ctimeNs } = lstatSync(join(folder, path), { bigint: true })
        if (ctimeNs > steadyBefore) return undefined
        hash.update(`${path}\0${mode} ${size} ${ino} ${mtimeNs} ${ctimeNs}\0`)
        files++
      }
    }
  } catch {
    // A folder that may not be entered, a file that went away: git tells it better.
    return undefined
  }
  return { digest: hash.digest('hex'), isEmpty: files === 0 }
}
