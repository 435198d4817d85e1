import { realpathSync } from 'node:fs'
import { delimiter, dirname } from 'node:path'
import { type HostPath, hostPath } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import { which } from './which.ts'

/** Where the programs of the system are. */
export const systemPath = '/usr/local/sbin:/usr/local/bin:/usr/sbin:/usr/bin:/sbin:/bin'

/** The search path of an agent. Our own Node comes last, so that there is always one. */
export function withOwnNode(path: string = systemPath): string {
  const own = dirname(process.execPath)
  return path.split(delimiter).includes(own) ? path : path + delimiter + own
}

/** The full path of a program, as `which` finds it; throws a `PawlError` that says what to do if it does not. */
export async function findProgram(file: string, where: { readonly path: string; readonly folder: string }): Promise<string> {
  const found = which(file, where)
  if ('file' in found) return found.file
  throw new PawlError(
    'unavailable',
    found.missing === 'not_executable'
      ? `The program "${found.looked}" may not be executed; check its permissions (chmod +x).`
      : file.includes('/')
        ? `The program "${found.looked}" does not exist; install it, or correct its path.`
        : `The program "${file}" was not found in ${found.looked}; install it, or give its full path.`,
  )
}

/** Where a path really leads. `what` it is called goes into the refusal. */
export function realPath(path: string, what: string): HostPath {
  try {
    return hostPath(realpathSync(path))
  } catch (error) {
    throw new PawlError('invalid', `The ${what} "${path}" does not exist or cannot be read; create it, or name another.`, {
      cause: error,
    })
  }
}
