import { asObject } from '../../domain/base/object.ts'
import type { Category } from '../../domain/run/outcome.ts'
import type { Exit } from '../../sandbox/process/child.ts'
import type { Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { text } from '../shared/fields.ts'
import { isShallow } from '../shared/json.ts'
import type { RpcError } from '../shared/json-rpc.ts'
import { resetTime } from '../shared/reset-time.ts'
import { cut, type TextKeeper } from '../shared/text.ts'
import type { Habits } from './habits.ts'

export type Facts = Omit<Verdict, 'outcome' | 'category' | 'message'>

/** Why the program stopped, in the protocol's words. `answer` is its last message, `soFar` all that it said. */
export function judgeStop(
  reason: unknown,
  given: { readonly answer: string; readonly soFar: string; readonly facts: Omit<Facts, 'text'> },
): Verdict {
  const { answer, soFar, facts } = given
  switch (reason) {
    case 'end_turn':
      return answer === ''
        ? { ...facts, text: soFar, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.' }
        : { ...facts, text: answer, outcome: 'succeeded' }
    case 'max_tokens':
      return {
        ...facts,
        text: soFar,
        outcome: 'failed',
        category: 'context_overflow',
        message: 'It reached the most tokens that its model gives.',
      }
    case 'max_turn_requests':
      return {
        ...facts,
        text: soFar,
        outcome: 'failed',
        category: 'max_turns',
        message: 'It used all the turns that it allows itself.',
      }
    case 'refusal':
      return { ...facts, text: soFar, outcome: 'failed', category: 'reported_failure', message: 'The model refused to go on.' }
    case 'cancelled':
      return {
        ...facts,
        text: soFar,
        outcome: soFar === '' ? 'empty' : 'partial',
        message: 'It was stopped before it had finished.',
      }
    default:
      return {
        ...facts,
        text: soFar,
        outcome: 'failed',
        category: 'protocol_error',
        message: `It stopped for a reason that the protocol does not know: ${cut(JSON.stringify(reason) ?? 'none', 100)}.`,
      }
  }
}

/** The verdict on an error that answered a request: by what the program means by it, by its code, then by its words. */
export function judgeError(error: RpcError, facts: Facts, habits: Pick<Habits, 'judge'>, now = new Date()): Verdict {
  const own = habits.judge?.(error)
  const words = wordsOf(error)
  const category = own?.category ?? byCode(error.code) ?? byWords(words) ?? 'exit_code'
  const waits = category === 'usage_limit' || category === 'rate_limited'
  const retryAt = own?.retryAt ?? (waits ? resetTime(words, now) : undefined)
  return { ...facts, outcome: 'failed', category, message: cut(own?.message ?? words, 500), ...(retryAt && { retryAt }) }
}

/** How the end of the process is judged while a turn was under way. */
export function judgeExit(exit: Exit | undefined, facts: Facts, stderr: TextKeeper): Verdict {
  const ending = judgeEnding(exit, { facts, stderr })
  if (ending) {
    const category = ending.category === 'exit_code' ? byWords(stderr.text()) : undefined
    return category ? { ...ending, category } : ending
  }
  const isUnexplained = stderr.text().trim() === ''
  const message = 'The program ended without a result.'
  return { ...facts, outcome: 'failed', category: 'crashed', message, ...(isUnexplained && { isUnexplained }) }
}

/** They are searched for many words. */
const maxDetailChars = 4_096

/** The message, with the details where programs put what they were told: a bare "Internal error" explains nothing. */
function wordsOf({ message, data }: RpcError): string {
  const parts = asObject(data)
  const details = [data, parts?.details, parts?.message, asObject(parts?.error)?.message]
    .map(text)
    .find((part) => part && part !== message)
  const shown = details ?? (parts && isShallow(parts, 8) && Object.keys(parts).length > 0 ? JSON.stringify(parts) : undefined)
  return shown === undefined ? message : `${message}: ${cut(shown, maxDetailChars)}`
}

/** Codes of the protocol, and those of HTTP, which some programs pass on as they are. */
export function byCode(code: number): Category | undefined {
  if (code === -32000) return 'auth_failed'
  return code >= 400 && code < 600 ? byStatus(code) : undefined
}

export function byStatus(status: number): Category | undefined {
  if (status === 401 || status === 403) return 'auth_failed'
  if (status === 429) return 'rate_limited'
  if (status === 413) return 'context_overflow'
  if (status === 503 || status === 529) return 'overloaded'
  if (status === 408 || status >= 500) return 'network'
  return status >= 400 ? 'bad_config' : undefined
}

const said: readonly (readonly [RegExp, Category])[] = [
  [/usage limit|insufficient_quota|quota (?:was |has been )?exceeded|exceeded your current quota/i, 'usage_limit'],
  [/context (?:window|length)|context_length_exceeded|prompt is too long|too many tokens|input token count/i, 'context_overflow'],
  [/rate.?limit|too many requests|resource_exhausted/i, 'rate_limited'],
  [/overloaded|at capacity/i, 'overloaded'],
  [
    /invalid.{0,20}api key|incorrect api key|authentication_error|unauthori[sz]ed|not logged in|please (?:run \/)?log ?in|permission_error/i,
    'auth_failed',
  ],
  [/model.{0,200}(?:not found|does not exist)|not_found_error|model_not_found/i, 'bad_config'],
]
const lost: readonly (readonly [RegExp, Category])[] = [
  [
    /fetch failed|ECONNREFUSED|ECONNRESET|ETIMEDOUT|connection error|stream disconnected|socket hang up|internal server error|high demand/i,
    'network',
  ],
]

/** What is named wins over a number, and a number over what could be said of many failures. */
export function byWords(words: string): Category | undefined {
  const found = said.find(([pattern]) => pattern.test(words))?.[1]
  if (found) return found
  const status = /\b(?:status|code|error|http)\b\D{0,12}\b([45]\d\d)\b|\b([45]\d\d)\b (?:[A-Z]|\{)/i.exec(words)
  const number = Number(status?.[1] ?? status?.[2] ?? 0)
  return byStatus(number) ?? lost.find(([pattern]) => pattern.test(words))?.[1]
}
