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

/** What the program said about why it failed. */
export interface Failure {
  readonly message: string
  /** `codexErrorInfo`: a word, or one word with details below it. */
  readonly info?: unknown
  /** When a used-up limit of the account is full again, if the program told. */
  readonly resetsAt?: Date | undefined
}

/** The verdict on a failure that the program itself reported: from what is structured first, then from its words. */
export function judgeFailure(failure: Failure, facts: Facts, now = new Date()): Verdict {
  const { code, message } = unwrap(failure.message)
  const category = byInfo(failure.info) ?? byCode(code) ?? byText(message) ?? 'exit_code'
  const waits = category === 'usage_limit' || category === 'rate_limited'
  const retryAt = waits ? ((category === 'usage_limit' ? failure.resetsAt : undefined) ?? resetTime(message, now)) : undefined
  return { ...facts, outcome: 'failed', category, message: cut(message, 500), ...(retryAt && { retryAt }) }
}

export const answered = (facts: Facts): Verdict =>
  facts.text === ''
    ? { ...facts, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.' }
    : { ...facts, outcome: 'succeeded' }

/** The program ended as if all were well, but the turn had no end. */
export function endedEarly(facts: Facts, stderr: TextKeeper): Verdict {
  const isUnexplained = stderr.text().trim() === ''
  const message = 'The program ended without a result.'
  return { ...facts, outcome: 'failed', category: 'crashed', message, ...(isUnexplained && { isUnexplained }) }
}

/** How the end of the process is judged, with the reason that the program gave on stderr for not even beginning. */
export function judgeExit(exit: Exit | undefined, facts: Facts, stderr: TextKeeper): Verdict | undefined {
  const complained = stderr.text()
  const reason = /^error: *(.+)$/im.exec(complained)?.[1]
  const verdict = judgeEnding(exit, { facts, stderr, ...(reason && { reason: cut(reason, 500) }) })
  const category = verdict?.category === 'exit_code' && complaints.find(([pattern]) => pattern.test(complained))?.[1]
  return verdict && category ? { ...verdict, category } : verdict
}

const words: Record<string, Category> = {
  contextWindowExceeded: 'context_overflow',
  sessionBudgetExceeded: 'budget_exceeded',
  usageLimitExceeded: 'usage_limit',
  rateLimitExceeded: 'rate_limited',
  serverOverloaded: 'overloaded',
  flexUnavailable: 'overloaded',
  policyCapacityUnavailable: 'overloaded',
  modelNotFound: 'bad_config',
  unauthorized: 'auth_failed',
  internalServerError: 'network',
  badRequest: 'bad_config',
  sandboxError: 'sandbox_error',
  cyberPolicy: 'permission_denied',
  misalignmentPolicyViolation: 'permission_denied',
  tooManyDenials: 'permission_denied',
  httpConnectionFailed: 'network',
  responseStreamConnectionFailed: 'network',
  responseStreamDisconnected: 'network',
  responseTooManyFailedAttempts: 'network',
  modelProviderNotConfigured: 'bad_config',
  modelProviderMismatch: 'bad_config',
}

function byInfo(info: unknown): Category | undefined {
  const word = text(info)
  if (word !== undefined) return Object.hasOwn(words, word) ? words[word] : undefined
  const [name, details] = Object.entries(asObject(info) ?? {})[0] ?? []
  const status = asObject(details)?.httpStatusCode
  if (typeof status === 'number') return byStatus(status)
  return name !== undefined && Object.hasOwn(words, name) ? words[name] : undefined
}

function byStatus(status: number): Category | undefined {
  if (status === 401 || status === 403) return 'auth_failed'
  if (status === 429) return 'rate_limited'
  if (status === 413) return 'context_overflow'
  if (status === 503 || status === 529) return 'overloaded'
  if (status === 408 || status >= 500) return 'network'
  return status >= 400 ? 'bad_config' : undefined
}

const codes: Record<string, Category> = {
  context_length_exceeded: 'context_overflow',
  invalid_api_key: 'auth_failed',
  insufficient_quota: 'usage_limit',
  rate_limit_exceeded: 'rate_limited',
  model_not_found: 'bad_config',
}

const byCode = (code: string | undefined) => (code !== undefined && Object.hasOwn(codes, code) ? codes[code] : undefined)

/** A refusal of the service is passed on as the JSON it came in. */
function unwrap(message: string): { code?: string | undefined; message: string } {
  const parsed = message.startsWith('{') ? parseJson(message) : undefined
  const error = parsed && 'value' in parsed ? asObject(asObject(parsed.value)?.error) : undefined
  return { code: text(error?.code), message: text(error?.message) ?? message }
}

const said: readonly (readonly [RegExp, Category])[] = [
  [/^(thread\/resume: )?(thread\/resume failed: )?(no rollout found for thread id|failed to read thread)/, 'session_missing'],
  [/^thread not found: /, 'session_missing'],
  [/^You.ve hit your usage limit/, 'usage_limit'],
  [/^Quota exceeded/, 'usage_limit'],
  [/^rate limit exceeded/i, 'rate_limited'],
  [/^Missing environment variable/, 'auth_failed'],
  [/^Codex ran out of room in the model's context window/, 'context_overflow'],
  [/^Your input exceeds the context window/, 'context_overflow'],
  [/^Selected model is at capacity/, 'overloaded'],
  [/^We.re currently experiencing high demand/, 'network'],
  [/^stream disconnected before completion/, 'network'],
  [/^Connection failed/, 'network'],
  [/^The model .{1,200} does not exist/, 'bad_config'],
]

function byText(message: string): Category | undefined {
  const status = /^(?:unexpected status|exceeded retry limit, last status:) (\d{3})\b/.exec(message)?.[1]
  if (status !== undefined) return byStatus(Number(status))
  return said.find(([pattern]) => pattern.test(message))?.[1]
}

const complaints: readonly (readonly [RegExp, Category])[] = [
  [/^Error: thread\/resume: thread\/resume failed: (no rollout found for thread id|failed to read thread)/m, 'session_missing'],
  [/^Error loading config/m, 'bad_config'],
  [/^Error: (failed to load configuration|error loading)/im, 'bad_config'],
  [/^error: unexpected argument/m, 'bad_config'],
  [/^Error: .{1,200} is no longer supported; remove this setting/m, 'bad_config'],
  [/^Not inside a trusted directory/m, 'bad_config'],
]
