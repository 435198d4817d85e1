import { mkdirSync } from 'node:fs'
import { type DirectoryHandle, openDirectory, openIn } from './directory-handle.ts'

/** Opens the folder of that path below a root, made where it is missing; never through a link. Throws where something else is in its place. The caller closes it. */
export async function makeFolders(root: string, path: string): Promise<DirectoryHandle> {
  let folder = await openDirectory(root)
  if (!folder) throw new Error(`${root} is gone`)
  for (const name of namesOf(path)) {
    const parent: DirectoryHandle = folder
    try {
      folder = await openOrMake(parent, name)
    } finally {
      await parent.close()
    }
    if (!folder) throw new Error(`${name} in ${path} is no folder`)
  }
  return folder
}

type Use<T> = (folder: DirectoryHandle | undefined) => Promise<T>

/** Uses the folder of that path below an open one, made where it is missing. Undefined if something else is in its place. */
export const inMadeFolder = <T>(root: DirectoryHandle, path: string, use: Use<T>): Promise<T> =>
  follow(root, namesOf(path), openOrMake, use)

/** Uses the folder of that path below an open one. Undefined if there is none, or a link is on the way. */
export const inFolderBelow = <T>(root: DirectoryHandle, path: string, use: Use<T>): Promise<T> =>
  follow(root, namesOf(path), openIn, use)

async function follow<T>(root: DirectoryHandle, names: readonly string[], step: typeof openOrMake, use: Use<T>): Promise<T> {
  const [first, ...rest] = names
  if (first === undefined) return use(root)
  const folder = await step(root, first)
  try {
    return folder ? await follow(folder, rest, step, use) : await use(undefined)
  } finally {
    await folder?.close()
  }
}

/** One that is made is given to whom its parent belongs. */
async function openOrMake(parent: DirectoryHandle, name: string): Promise<DirectoryHandle | undefined> {
  const there = await openIn(parent, name)
  if (there) return there
  const isNew = make(parent.at(name))
  const folder = await openIn(parent, name)
  if (isNew) {
    const owner = await parent.stat()
    await folder?.chown(owner.uid, owner.gid)
  }
  return folder
}

/** False if something of that name is there by now. */
function make(path: string): boolean {
  try {
    mkdirSync(path, { mode: 0o755 })
    return true
  } catch (error) {
    if ((error as { code?: string }).code === 'EEXIST') return false
    throw error
  }
}

const namesOf = (path: string) => path.split('/').filter((name) => name !== '' && name !== '.')
