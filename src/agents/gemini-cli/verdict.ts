import { asObject } from '../../domain/base/object.ts'
import type { Category } from '../../domain/run/outcome.ts'
import type { Exit } from '../../sandbox/process/child.ts'
import type { Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { text } from '../shared/fields.ts'
import { parseJson } from '../shared/json.ts'
import { resetTime } from '../shared/reset-time.ts'
import { cut, type TextKeeper } from '../shared/text.ts'

export type Facts = Omit<Verdict, 'outcome' | 'category' | 'message'>

export interface Failure {
  readonly message: string
  /** Of HTTP, where it is known. */
  readonly status?: number | undefined
  /** The name that the program has for it. */
  readonly type?: string | undefined
}

type Judged = Pick<Verdict, 'category' | 'message' | 'retryAt'>

/** What a failure means that the program itself told: by its own name for it, by the status, then by its words. */
export function judgeFailure(failure: Failure, now = new Date()): Judged {
  const told = unwrap(failure.message)
  const status = failure.status ?? told.status
  const category = byType(failure.type) ?? byWords(told.message) ?? byStatus(status) ?? 'exit_code'
  const waits = category === 'rate_limited' || category === 'usage_limit'
  const retryAt = waits ? resetTime(told.message, now) : undefined
  return { category, message: cut(told.message, 500), ...(retryAt && { retryAt }) }
}

/** How the end of the process is judged that told no result. */
export function judgeExit(exit: Exit | undefined, facts: Facts, stderr: TextKeeper): Verdict {
  const complained = stderr.text()
  const status = statusOf(exit)
  if (status !== undefined) {
    const said = /(?:Attempt \d+ failed: |Error: )(.+)/.exec(complained)?.[1]
    return {
      ...facts,
      outcome: 'failed',
      ...judgeFailure({ message: said ?? `The model's service answered ${status}.`, status }),
    }
  }
  const reason = /^(?:Error[^:\n]*|Fatal[^:\n]*): *(.+)$/m.exec(complained)?.[0]
  const verdict = judgeEnding(exit, { facts, stderr, ...(reason && { reason: cut(reason, 500) }) })
  if (!verdict) {
    // A signal to leave is followed as well: without a result it is none.
    const isUnexplained = complained.trim() === ''
    return { ...facts, outcome: 'failed', category: 'crashed', message: 'The program ended without a result.', isUnexplained }
  }
  const category = verdict.category === 'exit_code' ? (byComplaint(complained) ?? byExit(exit)) : undefined
  return category ? { ...verdict, category } : verdict
}

/** The code is the status of HTTP as far as a byte holds it; only those that services give are read so. */
export const statusOf = (exit: Exit | undefined): number | undefined => statuses.find((status) => exit?.code === status % 256)

const statuses = [400, 401, 403, 404, 413, 429, 500, 502, 503, 504, 529]

const exits: Record<number, Category> = {
  41: 'auth_failed',
  42: 'bad_config',
  52: 'bad_config',
  53: 'max_turns',
  55: 'bad_config',
}
const byExit = (exit: Exit | undefined) => exits[exit?.code ?? -1]

const types: Record<string, Category> = {
  FatalTurnLimitedError: 'max_turns',
  FatalAuthenticationError: 'auth_failed',
  FatalConfigError: 'bad_config',
  FatalInputError: 'bad_config',
}
const byType = (type: string | undefined) => (type !== undefined && Object.hasOwn(types, type) ? types[type] : undefined)

export function byStatus(status: number | undefined): Category | undefined {
  if (status === undefined) return undefined
  if (status === 401 || status === 403) return 'auth_failed'
  if (status === 429) return 'rate_limited'
  if (status === 413) return 'context_overflow'
  if (status === 503 || status === 529) return 'overloaded'
  if (status === 408 || status >= 500) return 'network'
  return status >= 400 ? 'bad_config' : undefined
}

/** The service's own answer, out of what the program puts around it. */
function unwrap(message: string): { readonly message: string; readonly status?: number | undefined } {
  const inner = /^\[API Error: ([\s\S]*?)\](?:\n|$)/.exec(message)?.[1] ?? message
  const parsed = inner.startsWith('{') ? parseJson(inner) : undefined
  const error = parsed && 'value' in parsed ? asObject(asObject(parsed.value)?.error) : undefined
  const status = typeof error?.code === 'number' ? error.code : undefined
  return { message: text(error?.message) ?? inner, status }
}

const said: readonly (readonly [RegExp, Category])[] = [
  [/input token count|exceeds the maximum number of tokens|context (?:window|length)/i, 'context_overflow'],
  [/API key not valid|API_KEY_INVALID|API key expired/i, 'auth_failed'],
  [/exhausted your (?:daily )?quota|daily quota|quota will reset/i, 'usage_limit'],
  [/Resource has been exhausted|RESOURCE_EXHAUSTED|rate limit|Too Many Requests/i, 'rate_limited'],
  [/model is overloaded/i, 'overloaded'],
  [/fetch failed|ECONNREFUSED|ECONNRESET|ETIMEDOUT|socket hang up|Incomplete JSON segment|end of JSON input/i, 'network'],
]
const byWords = (message: string) => said.find(([pattern]) => pattern.test(message))?.[1]

const complaints: readonly (readonly [RegExp, Category])[] = [
  [/^Error resuming session: /m, 'session_missing'],
  [/Session ID \S+ (?:is )?already (?:in use|exists)/i, 'session_missing'],
  [/Invalid auth method|Please set an Auth method|GEMINI_API_KEY/m, 'auth_failed'],
  [/^(?:Unknown argument|Invalid values)/m, 'bad_config'],
]
const byComplaint = (complained: string) => complaints.find(([pattern]) => pattern.test(complained))?.[1]
