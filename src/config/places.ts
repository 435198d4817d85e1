import type { Stats } from 'node:fs'
import { lstat, mkdir, open, rm, stat } from 'node:fs/promises'
import { homedir } from 'node:os'
import { dirname, join, resolve } from 'node:path'
import { hostPath, relativeTo } from '../domain/base/path.ts'
import { PawlError } from '../domain/error.ts'

/** The project's settings file: the nearest `pawl.yaml` from `cwd` upward, not beyond the git root. */
export async function findProjectFile(cwd: string): Promise<string | undefined> {
  for (let folder = resolve(cwd); ; folder = dirname(folder)) {
    const file = join(folder, 'pawl.yaml')
    if (await exists(file)) return file
    if (folder === dirname(folder) || (await exists(join(folder, '.git')))) return undefined
  }
}

/** Makes Pawl's own folder on first use, for its owner only, and refuses one that cannot be used. */
export async function openHome(home: string): Promise<void> {
  const refuse = (why: string, cause: unknown) =>
    new PawlError('invalid', `Pawl's home ${home} ${why}; choose another folder with PAWL_HOME.`, { cause })
  try {
    await makeFolder(home)
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    throw refuse(code === 'EEXIST' || code === 'ENOTDIR' ? 'is not a folder' : `cannot be made (${code})`, error)
  }
  const { mode, uid } = await statOf(home)
  const own = process.getuid?.()
  if (own !== undefined && uid !== own)
    throw new PawlError(
      'invalid',
      `Pawl's home ${home} belongs to the user with the id ${uid}, and Pawl runs as ${own}. Whoever owns it could change what Pawl runs. Run Pawl as that user, or choose another folder with PAWL_HOME.`,
    )
  if ((mode & 0o022) !== 0)
    throw new PawlError(
      'invalid',
      `Pawl's home ${home} can be written by other users (mode ${(mode & 0o7777).toString(8)}), so its settings and keys may not be yours. See that everything in it is, then run "chmod 700 ${home}"; or choose another folder with PAWL_HOME.`,
    )
  // Permission bits do not tell (read-only file systems, other users, access lists): only a write does.
  const probe = join(home, `.write-check-${process.pid}-${Math.random().toString(36).slice(2)}`)
  try {
    await (await open(probe, 'wx', 0o600)).close()
    await rm(probe)
  } catch (error) {
    throw refuse(`cannot be written (${(error as NodeJS.ErrnoException).code})`, error)
  }
}

async function statOf(home: string): Promise<Stats> {
  const found = await stat(home)
  if (!found.isDirectory())
    throw new PawlError('invalid', `Pawl's home ${home} is not a folder; choose another folder with PAWL_HOME.`)
  return found
}

/** Step by step: Node's own recursive mkdir never ends where a folder is there but refuses new ones as if it were not (/proc). */
async function makeFolder(path: string): Promise<void> {
  try {
    await mkdir(path, { mode: 0o700 })
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    if (code === 'EEXIST') return
    if (code !== 'ENOENT' || (await exists(dirname(path)))) throw error
    await makeFolder(dirname(path))
    await mkdir(path, { mode: 0o700 }).catch((again: NodeJS.ErrnoException) => {
      if (again.code !== 'EEXIST') throw again
    })
  }
}

/** Absolute: `~` is the user's home, anything else is seen from `folder`. */
export function absolute(path: string, folder: string, userHome: string | undefined): string {
  if (path === '~' || path.startsWith('~/')) return join(userHome || homedir(), path.slice(1))
  return resolve(folder, path)
}

/** A file as a person in `cwd` would write it. */
export function shortName(file: string, cwd: string): string {
  const seen = relativeTo(hostPath(cwd), hostPath(resolve(file)))
  return seen === undefined || seen === '.' ? file : seen
}

async function exists(path: string): Promise<boolean> {
  try {
    await lstat(path)
    return true
  } catch (error) {
    const { code } = error as NodeJS.ErrnoException
    // A folder we may not look into holds no settings for us; readDocument speaks up about a file that is there.
    if (code === 'ENOENT' || code === 'ENOTDIR' || code === 'EACCES') return false
    throw error
  }
}
