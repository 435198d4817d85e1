import { randomBytes } from 'node:crypto'
import { lstatSync, realpathSync } from 'node:fs'
import { chmod, rename, rm, stat, writeFile } from 'node:fs/promises'
import { basename, dirname, join, resolve } from 'node:path'
import { isInside, relativeTo, type SandboxPath, sandboxPath } from '../../../domain/base/path.ts'

export interface Place {
  readonly workspace: string
  /** Left out: the walls decide. */
  readonly confinedTo?: readonly string[] | undefined
}

/** Where a path that the model names really leads, links followed. Refuses what lies outside of the places it may use. */
export function realPath(path: string, { workspace, confinedTo }: Place): SandboxPath {
  if (path.includes('\0')) throw new Error('A path cannot hold a NUL character.')
  const real = followed(resolve(workspace, path))
  const roots = confinedTo?.map(followed)
  if (roots && !roots.some((root) => isInside(root, real)))
    throw new Error(`${path} is outside of the workspace ${workspace}, and nothing outside of it may be used.`)
  return real
}

/** What is not there yet lies in the folder that is. */
function followed(path: string): SandboxPath {
  const found = lstatSync(path, { throwIfNoEntry: false })
  if (found) return sandboxPath(realpathSync(path))
  const parent = dirname(path)
  return sandboxPath(parent === path ? path : join(followed(parent), basename(path)))
}

export const shown = (path: string, { workspace }: Place): string =>
  relativeTo(sandboxPath(resolve(workspace)), sandboxPath(resolve(path))) ?? path

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
