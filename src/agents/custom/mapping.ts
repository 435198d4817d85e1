import type { Mapping } from './options.ts'

/** What one JSON value says, by the declared paths. Undefined: the value has nothing there that could be meant. */
export interface Mapped {
  readonly text: string | undefined
  readonly result: string | undefined
  readonly session: string | undefined
  readonly error: string | undefined
  readonly costUsd: number | undefined
  readonly inputTokens: number | undefined
  readonly outputTokens: number | undefined
}

export function mapValue(value: unknown, map: Mapping): Mapped {
  return {
    text: asText(at(value, map.text)),
    result: asText(at(value, map.result)),
    session: asText(at(value, map.session)) || undefined,
    error: asError(at(value, map.error)),
    costUsd: asAmount(at(value, map.costUsd)),
    inputTokens: asCount(at(value, map.inputTokens)),
    outputTokens: asCount(at(value, map.outputTokens)),
  }
}

export const saysSomething = (mapped: Mapped) => Object.values(mapped).some((field) => field !== undefined)

/** Own fields only: nothing that JavaScript itself puts on every object can be named. */
function at(value: unknown, path: string | undefined): unknown {
  if (path === undefined) return undefined
  let here = value
  for (const key of path.split('.')) {
    if (typeof here !== 'object' || here === null || !Object.hasOwn(here, key)) return undefined
    here = (here as Record<string, unknown>)[key]
  }
  return here
}

const asText = (found: unknown) =>
  typeof found === 'string' ? found : typeof found === 'number' || typeof found === 'boolean' ? String(found) : undefined
const asAmount = (found: unknown) => (typeof found === 'number' && Number.isFinite(found) && found >= 0 ? found : undefined)
const asCount = (found: unknown) => (Number.isSafeInteger(found) ? asAmount(found) : undefined)

function asError(found: unknown): string | undefined {
  if (found === undefined || found === null || found === false || found === '') return undefined
  if (typeof found === 'string') return found
  const message = at(found, 'message')
  return typeof message === 'string' && message !== '' ? message : 'The program reported an error.'
}
