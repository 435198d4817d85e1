import { constants } from 'node:fs'
import { open, readdir, realpath } from 'node:fs/promises'
import { basename, dirname, join, relative } from 'node:path'
import { hostPath, isInside } from '../../domain/base/path.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import { type DirectoryHandle, inFolder, noFollow } from '../../sandbox/files/directory-handle.ts'

export interface FolderFile {
  /** Relative, with slashes. */
  readonly path: string
  readonly isExecutable: boolean
  readonly content: Buffer
}

const mostFiles = 1_000
const mostBytes = 32 * 1024 * 1024

/**
 * All files of a folder, with links inside it resolved, in the order of their paths. Throws an `invalid` that ends the sentence "The skill x …" for what cannot be
 * shown to an agent as it is: a link that leads out would show something else.
 */
export async function readFolder(folder: string): Promise<FolderFile[]> {
  const files: FolderFile[] = []
  const root = hostPath(await realpath(folder).catch(refuseUnreadable('.')))
  let bytes = 0
  async function walk(directory: string, above: readonly string[]): Promise<void> {
    const shown = relative(folder, directory) || '.'
    const real = await inside(directory)
    if (above.includes(real)) throw invalid(`holds a link that leads in a circle, ${shown}`)
    const entries = await readdirAt(real).catch(refuseUnreadable(shown))
    for (const entry of entries.toSorted((a, b) => (a.name < b.name ? -1 : 1))) {
      const path = join(directory, entry.name)
      if (await isFolder(path, entry.isDirectory(), entry.isSymbolicLink())) await walk(path, [...above, real])
      else await take(path)
    }
  }
  async function take(path: string): Promise<void> {
    const shown = relative(folder, path)
    const real = await inside(path)
    const file = await openAt(real).catch(refuseUnreadable(shown))
    try {
      const { mode, size } = await file.stat()
      if (!(await file.stat()).isFile()) throw invalid(`holds ${shown}, which is neither a file nor a folder`)
      bytes += size
      if (bytes > mostBytes || files.length >= mostFiles)
        throw invalid(`is too large: at most ${mostFiles} files with ${mostBytes / 1024 / 1024} MB together`)
      files.push({ path: shown, isExecutable: (mode & 0o111) !== 0, content: await file.readFile() })
    } finally {
      await file.close()
    }
  }
  async function inside(path: string): Promise<string> {
    const shown = relative(folder, path) || '.'
    const real = hostPath(await realpath(path).catch(refuseUnreadable(shown)))
    if (!isInside(root, real)) throw invalid(`holds a link that leads out of it, ${shown}`)
    return real
  }
  await walk(folder, [])
  return files
}

/** A skill may be a link into a repository that an agent works in: where a path really leads must still be so when it is opened. */
async function atFolder<T>(real: string, use: (folder: DirectoryHandle) => Promise<T>): Promise<T> {
  const used = await inFolder(real, async (folder) => ({ value: await use(folder) }))
  if (!used) throw Object.assign(new Error(`${real} was exchanged while it was read`), { code: 'ENOTDIR' })
  return used.value
}

const readdirAt = (real: string) => atFolder(real, (folder) => readdir(folder.at('.'), { withFileTypes: true }))

/** A pipe or a device would keep us waiting for ever. */
const openAt = (real: string) =>
  atFolder(dirname(real), (folder) => open(folder.at(basename(real)), constants.O_RDONLY | constants.O_NONBLOCK | noFollow))

async function isFolder(path: string, isDirectory: boolean, isLink: boolean): Promise<boolean> {
  if (!isLink) return isDirectory
  return readdir(path).then(
    () => true,
    () => false,
  )
}

const refuseUnreadable =
  (shown: string) =>
  (error: NodeJS.ErrnoException): never => {
    if (error.code === 'ENOENT') throw invalid(`holds a link to nothing, ${shown}`)
    throw new PawlError('invalid', `cannot be read (${shown}: ${error.code ?? error.message})`, { cause: error })
  }
