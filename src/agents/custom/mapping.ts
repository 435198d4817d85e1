import { isObjectOrArray } from '../../domain/base/object.ts'
import { count } from '../shared/fields.ts'
import { idForm } from '../shared/program-sessions.ts'
import type { Mapping } from './mapping-schema.ts'

/** What one JSON value says, by the declared paths. Undefined: the value has nothing there that could be meant. */
export interface Mapped {
  readonly text: string | undefined
  readonly partial: string | undefined
  readonly result: string | undefined
  readonly session: string | undefined
  readonly error: string | undefined
  readonly costUsd: number | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

export function mapValue(value: unknown, map: Mapping): Mapped {
  return {
    text: holds(value, map.textWhere) ? textsAt(value, map.text) : undefined,
    partial: holds(value, map.partialWhere) ? asText(at(value, map.partial)) : undefined,
    result: asText(at(value, map.result)),
    session: asId(at(value, map.session)),
    error: asError(at(value, map.error)),
    costUsd: asAmount(at(value, map.costUsd)),
    inputTokens: count(at(value, map.inputTokens)),
    outputTokens: count(at(value, map.outputTokens)),
  }
}

export const saysSomething = (mapped: Mapped) => Object.values(mapped).some((field) => field !== undefined)

const at = (value: unknown, path: string | undefined): unknown => (path === undefined ? undefined : allAt(value, path)[0])

/** Own fields only: nothing that JavaScript itself puts on every object can be named. `*` is every item of a list. */
function allAt(value: unknown, path: string): unknown[] {
  let here: unknown[] = [value]
  for (const key of path.split('.'))
    here = here.flatMap((part) => {
      if (key === '*' && Array.isArray(part)) return part
      return isObjectOrArray(part) && Object.hasOwn(part, key) ? [part[key]] : []
    })
  return here
}

/** The words of every place that the path leads to, one below the other. */
function textsAt(value: unknown, path: string | undefined): string | undefined {
  if (path === undefined) return undefined
  const texts = allAt(value, path).flatMap((found) => asText(found) ?? [])
  return texts.length > 0 ? texts.join('\n') : undefined
}

const holds = (value: unknown, where: Mapping['textWhere']) =>
  Object.entries(where ?? {}).every(([path, wanted]) => allAt(value, path).some((found) => asText(found) === wanted))

const asText = (found: unknown) =>
  typeof found === 'string' ? found : typeof found === 'number' || typeof found === 'boolean' ? String(found) : undefined
/** One that could be an option or a path is none. */
function asId(found: unknown): string | undefined {
  const id = asText(found)
  return id !== undefined && idForm.test(id) ? id : undefined
}
const asAmount = (found: unknown) => (typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined)

function asError(found: unknown): string | undefined {
  if (found === undefined || found === null || found === false || found === '') return undefined
  if (typeof found === 'string') return found
  const message = at(found, 'message')
  return typeof message === 'string' && message !== '' ? message : 'The program reported an error.'
}
