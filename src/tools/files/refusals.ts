import { conflict, denied, invalid, notFound, PawlError, unavailable } from '../../domain/error.ts'

/** The sentence for what the system says about an entry. It names the path that the agent knows, never where it lies. */
export function told(error: unknown, path: string): PawlError {
  if (error instanceof PawlError) return error
  const { code = 'unknown' } = error as NodeJS.ErrnoException
  switch (code) {
    case 'ENOENT':
      return notFound(`${path} does not exist.`)
    case 'ELOOP':
    case 'ENOTDIR':
      return changedMeanwhile(path)
    case 'EACCES':
    case 'EPERM':
      return noRight(path)
    case 'EISDIR':
      return invalid(`${path} is a folder, not a file.`)
    case 'EROFS':
      return readOnly(path)
    case 'ENOSPC':
    case 'EDQUOT':
      return unavailable(`There is no room left to write ${path}.`)
    case 'ENAMETOOLONG':
      return invalid(`${path} is too long a name.`)
    default:
      return unavailable(`${path} could not be used (${code}).`, error)
  }
}

export const changedMeanwhile = (path: string) => conflict(`${path} was changed meanwhile; look at it again.`)
export const noRight = (path: string) => denied(`The user that this run works as has no right to do this with ${path}.`)
export const readOnly = (path: string) => denied(`${path} is read-only in this run.`)
