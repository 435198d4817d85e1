import { codePathMatcher, commonCodePaths } from '../../domain/workspace/code-paths.ts'
import { foldName } from '../../domain/workspace/path-rules.ts'

const { match } = codePathMatcher(commonCodePaths)

/** The nearest folder at or above this one that is known to hold credentials. */
export function credentialsAbove(path: string): string | undefined {
  const names = foldedNames(path)
  const length = names.findLastIndex((name, at) => match(name, names.slice(0, at))?.treatment === 'secret') + 1
  if (length === 0) return undefined
  return path
    .split('/')
    .slice(0, length + 1)
    .join('/')
}

/** The names of an absolute, plain path, as rules for paths want them. */
export const foldedNames = (path: string) =>
  path
    .split('/')
    .filter((name) => name !== '')
    .map(foldName)
