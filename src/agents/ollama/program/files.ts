import { randomBytes } from 'node:crypto'
import { lstatSync, realpathSync } from 'node:fs'
import { chmod, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, relative, resolve, sep } from 'node:path'

export interface Place {
  readonly workspace: string
  /** Left out: the walls decide. */
  readonly confinedTo?: readonly string[] | undefined
}

/** Where a path that the model names really leads, links followed. Refuses what lies outside of the places it may use. */
export function realPath(path: string, { workspace, confinedTo }: Place): string {
  if (path.includes('\0')) throw new Error('A path cannot hold a NUL character.')
  const real = followed(resolve(workspace, path))
  const roots = confinedTo?.map(followed)
  if (roots && !roots.some((root) => real === root || real.startsWith(root.endsWith(sep) ? root : root + sep)))
    throw new Error(`${path} is outside of the workspace ${workspace}, and nothing outside of it may be used.`)
  return real
}

/** What is not there yet lies in the folder that is. */
function followed(path: string): string {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found) return realpathSync(path)
  const parent = dirname(path)
  return parent === path ? path : join(followed(parent), basename(path))
}

export const shown = (path: string, { workspace }: Place) => {
  const inside = relative(workspace, path)
  return inside === '' ? '.' : inside.startsWith('..') ? path : inside
}

/** Never half a file: whoever dies in the middle leaves the old one. */
export async function replaceFile(path: string, content: string): Promise<void> {
  const begun = join(dirname(path), `.${basename(path).slice(0, 100)}.${randomBytes(6).toString('hex')}.new`)
  try {
    const before = await stat(path).catch(() => undefined)
    await writeFile(begun, content, { flag: 'wx' })
    if (before) await chmod(begun, before.mode & 0o7777)
    await rename(begun, path)
  } catch (thrown) {
    await rm(begun, { force: true })
    throw thrown
  }
}
