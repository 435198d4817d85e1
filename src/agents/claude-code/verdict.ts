import type { Usage } from '../../domain/money/usage.ts'
import type { Category } from '../../domain/run/outcome.ts'
import type { Exit } from '../../sandbox/process/child.ts'
import type { Verdict } from '../port.ts'
import { judgeEnding } from '../shared/ending.ts'
import { resetTime } from '../shared/reset-time.ts'
import { createTextKeeper, cut, type TextKeeper } from '../shared/text.ts'
import { isGood, type Result, usageOf } from './result.ts'

/** What a turn came to. */
export interface Told {
  readonly result: Result | undefined
  /** What the agent itself said, joined. */
  readonly spoken: string
  /** What the messages of a turn without a result used. */
  readonly usage?: Usage | undefined
  readonly session: string | undefined
  readonly costUsd: number | undefined
  /** A question was passed on and waits for its answer. */
  readonly asked: boolean
  readonly resetsAt: Date | undefined
  /** The process can take another turn as if it were fresh: nothing runs in it, and nothing is used up. */
  readonly isReusable: boolean
}

const waits = 'It waits for the answer to its question.'

/** Of a turn that came to its result. */
export function judgeResult(told: Told & { result: Result }, now: Date): Verdict {
  const { result } = told
  const facts = factsOf(told)
  if (told.asked) return { ...facts, outcome: 'blocked', message: waits, mayGoOn: told.isReusable }
  if (!isGood(result)) return { ...facts, outcome: 'failed', ...failureOf(result, told.resetsAt, now) }
  const mayGoOn = told.isReusable
  if (facts.text === '')
    return { ...facts, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.', mayGoOn }
  return { ...facts, outcome: 'succeeded', mayGoOn }
}

/** Of a turn that we stopped, or whose process ended, before there was a result. */
export function judgeEnd(told: Told, exit: Exit | undefined, stderr: TextKeeper): Verdict {
  const facts = factsOf(told)
  // The question is stored, and so is the conversation: however the program went, the answer is what is waited for.
  if (told.asked && exit) return { ...facts, outcome: 'blocked', message: waits }
  const verdict = judgeEnding(exit, { facts, stderr })
  if (!verdict) {
    const isUnexplained = stderr.text().trim() === ''
    return { ...facts, outcome: 'failed', category: 'crashed', message: 'The program ended without a result.', isUnexplained }
  }
  const category = verdict.category === 'exit_code' ? byWords(complaints, stderr.text()) : undefined
  return category ? { ...verdict, category } : verdict
}

/** The program's result says it all once more, without what was said before a tool was used; the joined words are for when it is empty. */
function factsOf({ result, spoken, usage, session, costUsd }: Told): Omit<Verdict, 'outcome'> {
  return {
    text: (result && isGood(result) ? answerOf(result) : undefined) || spoken.trim(),
    usage: result ? usageOf(result) : usage,
    costUsd,
    vendorSession: session,
  }
}

function answerOf(result: Result): string {
  const text = result.result?.trim() || (result.structured_output === undefined ? '' : JSON.stringify(result.structured_output))
  const keep = createTextKeeper()
  keep.add(text)
  return keep.text().trim()
}

interface Failure {
  readonly category: Category
  readonly message: string
  readonly retryAt?: Date
  readonly isUnexplained?: boolean
}

/** A limit may end while the program still speaks of it. */
const justPassedMs = 60_000

/** Structured fields first, then words that stand at the beginning of what the program says. */
export function failureOf(result: Result, resetsAt: Date | undefined, now: Date): Failure {
  const said = reasonOf(result)
  const known = byReason(result) ?? byStatus(result, said) ?? byWords(reasons, said)
  const category = known ?? byDefault(result)
  const message = said === '' ? 'The program gave up in the middle of its work.' : cut(said, 500)
  if (category !== 'rate_limited' && category !== 'usage_limit')
    return { category, message, ...(said === '' && known === undefined && { isUnexplained: true }) }
  // The words name a time of day: of one that has just passed they would say that it is tomorrow's.
  const told = resetsAt && resetsAt.getTime() > now.getTime() - justPassedMs ? resetsAt : undefined
  const retryAt = resetsAt ? told : resetTime(said, now)
  // A limit whose end nobody knows cannot be waited for; it is tried again as any other refusal to answer.
  return retryAt ? { category: 'usage_limit', message, retryAt } : { category: 'rate_limited', message }
}

/** Diagnostics of the program for its makers say nothing to anybody else. */
function reasonOf(result: Result): string {
  const said = result.errors?.find((error) => !error.startsWith('[ede_diagnostic]')) ?? result.result ?? ''
  return said.trim()
}

const bySubtype: Record<string, Category> = {
  error_max_turns: 'max_turns',
  error_max_budget_usd: 'budget_exceeded',
  error_max_structured_output_retries: 'protocol_error',
}
const byTerminalReason: Record<string, Category> = {
  max_turns: 'max_turns',
  budget_exhausted: 'budget_exceeded',
  prompt_too_long: 'context_overflow',
}
const byApiError: Record<string, Category> = {
  usage_limit_reached: 'usage_limit',
  connection_failed: 'network',
}

function byReason({ subtype, terminal_reason, api_error }: Result): Category | undefined {
  return named(bySubtype, subtype) ?? named(byTerminalReason, terminal_reason) ?? named(byApiError, api_error)
}
const named = (table: Record<string, Category>, key: string | undefined) =>
  key !== undefined && Object.hasOwn(table, key) ? table[key] : undefined

function byStatus({ api_error_status: status }: Result, said: string): Category | undefined {
  if (status === null || status === undefined) return undefined
  if (status === 401 || status === 403) return 'auth_failed'
  if (status === 429) return 'rate_limited'
  if (status === 529 || status === 503) return 'overloaded'
  if (status === 413) return 'context_overflow'
  if (status === 408 || status >= 500) return 'network'
  return byWords(reasons, said) ?? 'bad_config'
}

const byDefault = (result: Result): Category => (result.terminal_reason === 'api_error' ? 'network' : 'crashed')

/** An account without money is like one without a key: waiting does not help, and somebody has to act. */
const reasons: readonly (readonly [RegExp, Category])[] = [
  [/^No conversation found with session ID/, 'session_missing'],
  [/^Prompt is too long/i, 'context_overflow'],
  [/^(Credit balance is too low|Your credit balance)/, 'auth_failed'],
  [
    /^(Not logged in|Invalid API key|Invalid auth token|Please run \/login|Failed to authenticate|OAuth token|Your (account|organization))/,
    'auth_failed',
  ],
  [/^(You've hit your|You've reached your|Claude (AI )?usage limit reached)/, 'usage_limit'],
  [/^There's an issue with the selected model/, 'bad_config'],
]

/** Of standard error, when the program ended before it had begun. */
const complaints: readonly (readonly [RegExp, Category])[] = [
  [/^(Error: )?No conversation found with session ID/m, 'session_missing'],
  [/^(Error: )?Session ID \S+ is already in use/m, 'session_missing'],
  [/^error: (unknown option|option )/m, 'bad_config'],
  [/^(Error: )?(Invalid |MCP config|Settings file|Append system prompt file)/m, 'bad_config'],
]

const byWords = (table: readonly (readonly [RegExp, Category])[], text: string) =>
  table.find(([pattern]) => pattern.test(text))?.[1]
