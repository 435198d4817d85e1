import type { z } from 'zod'
import { demand } from '../domain/base/demand.ts'
import { didYouMean, nearest } from '../domain/base/nearest.ts'
import { isObjectOrArray } from '../domain/base/object.ts'
import { PawlError } from '../domain/error.ts'

export type Path = readonly (string | number)[]

/** One thing wrong with the settings. The sentence is told where it is, and puts that where it reads best. */
export interface Problem {
  readonly file?: string | undefined
  readonly line?: number | undefined
  readonly column?: number | undefined
  readonly path: Path
  sentence(where: string): string
}

/** One broken bracket can make hundreds of problems; nobody reads more than a screen of them. */
const mostListed = 20

/** One error for all problems: a single sentence, or a list of them. */
export function refuse(problems: readonly Problem[], shortName: (file: string) => string): never {
  const listed = problems.slice(0, mostListed).map(({ file, line, column, path, sentence }) => ({
    file,
    line,
    column,
    path: formatPath(path),
    message: sentence(file === undefined ? '' : `${shortName(file)}:${line}:${column}`),
  }))
  const more = problems.length > mostListed ? `\n  and ${problems.length - mostListed} more` : ''
  const message =
    problems.length === 1
      ? listed[0]!.message
      : `${problems.length} problems in the settings:${listed.map((problem) => `\n  - ${problem.message}`).join('')}${more}`
  throw new PawlError('invalid', message, { details: { problems: listed } })
}

/** `agents.helper.args[0]`; a name that is no plain word is quoted: `models["qwen3:8b"].provider`. */
export function formatPath(path: Path): string {
  let written = ''
  for (const step of path) {
    if (typeof step === 'number') written += `[${step}]`
    else if (/^[\w-]+$/.test(step)) written += written === '' ? step : `.${step}`
    else written += `[${JSON.stringify(step)}]`
  }
  return written
}

/** A problem as a schema sees it, before it is known where in which file it stands and under which path a person wrote it. */
export interface Fault {
  readonly path: Path
  sentence(where: string, shown: Path): string
}

/** Tells of a fault at a path of the settings, wherever that was written. */
export type Report = (path: Path, sentence: Fault['sentence']) => void

/** What a schema found, as sentences. Values are never repeated in them: they may be secret. `known` names the keys beside the last one. */
export function faultsOf(
  issues: readonly z.core.$ZodIssue[],
  value: unknown,
  known: (shown: Path) => readonly string[],
): Fault[] {
  return issues.flatMap((issue): Fault[] => {
    const path = issue.path.map((step) => (typeof step === 'symbol' ? String(step) : step))
    if (issue.code === 'unrecognized_keys')
      return issue.keys.map((key) => ({
        path: [...path, key],
        sentence: (where, shown) => unknownKey(key, shown.slice(0, -1), where, known(shown)),
      }))
    const wrong = at(value, path) === undefined && issue.code !== 'custom' ? `is missing; it ${demand(issue)}` : demand(issue)
    return [{ path, sentence: (where, shown) => `${formatPath(shown) || 'The file'}${where && ` in ${where}`} ${wrong}.` }]
  })
}

export function unknownKey(key: string, path: Path, where: string, candidates: readonly string[]): string {
  const start = `Unknown key "${key}"${path.length > 0 ? ` at ${formatPath(path)}` : ''}${where && ` in ${where}`}`
  if (nearest(key, candidates) !== undefined || candidates.length === 0) return start + didYouMean(key, candidates)
  return `${start}; the known ones are ${candidates.join(', ')}.`
}

function at(value: unknown, path: Path): unknown {
  let current = value
  for (const step of path) current = isObjectOrArray(current) ? current[step] : undefined
  return current
}
