import { oneOf } from '../../domain/base/one-of.ts'
import { invalid } from '../../domain/error.ts'
import type { NewTask } from '../../domain/view/view.ts'
import type { TaskOptions } from './task-options.ts'

type BudgetOptions = Pick<TaskOptions, 'budgetUsd' | 'budgetTokens' | 'budgetTurns' | 'budgetTime' | 'budgetRunUsd'>

/** The caps that were named, if any was. */
export async function budgetOf(options: BudgetOptions): Promise<NewTask['budget']> {
  return some({
    usd: dollars('--budget-usd', options.budgetUsd),
    tokens: count('--budget-tokens', options.budgetTokens, 1),
    turns: count('--budget-turns', options.budgetTurns, 1),
    wallMs: await time('--budget-time', options.budgetTime),
    perRunUsd: dollars('--budget-run-usd', options.budgetRunUsd),
  })
}

export async function retryOf(options: TaskOptions): Promise<NewTask['retry']> {
  return some({
    attempts: count('--attempts', options.attempts, 1),
    backoff: oneOf('--backoff', options.backoff, ['exponential', 'linear']),
    baseDelayMs: await duration('--retry-delay', options.retryDelay, '0 for none'),
    maxDelayMs: await duration('--retry-max-delay', options.retryMaxDelay, '0 for none'),
  })
}

/** Said either way, or left to what the task says of subtasks. */
export function planningOf({ plan, skipPlanning }: TaskOptions): boolean | undefined {
  if (plan && skipPlanning) throw invalid('Name --plan or --skip-planning, not both.')
  return plan ? false : skipPlanning
}

export function subtasksOf(options: TaskOptions): NewTask['subtasks'] {
  const limits = some({
    most: count('--subtasks', options.subtasks, 0),
    depth: count('--subtask-depth', options.subtaskDepth, 0),
    budgetShare: share('--subtask-share', options.subtaskShare),
    whenDone: oneOf('--subtasks-done', options.subtasksDone, ['continue', 'review']),
    agents: options.subtaskAgent,
  })
  return limits && { most: 20, depth: 2, budgetShare: 0.5, whenDone: 'continue', ...limits }
}

export async function questionsOf(options: TaskOptions): Promise<NewTask['questions']> {
  const deadlineMs = await time('--answer-within', options.answerWithin)
  if (options.unanswered !== undefined && deadlineMs === undefined) throw invalid('--unanswered needs --answer-within.')
  const { mayAnswer } = options
  if (deadlineMs === undefined && mayAnswer === undefined) return undefined
  return {
    afterDeadline: afterDeadline(options.unanswered ?? 'deny'),
    ...(deadlineMs === undefined ? {} : { deadlineMs }),
    ...(mayAnswer === undefined ? {} : { mayAnswer }),
  }
}

function afterDeadline(written: string): NonNullable<NewTask['questions']>['afterDeadline'] {
  const [, kind = written, value] = /^(proceed|escalate)=(.+)$/s.exec(written) ?? []
  if (kind === 'proceed' && value !== undefined) return { kind, answer: value }
  if (kind === 'escalate' && value !== undefined) {
    const notification = /^notification:(.+)$/s.exec(value)?.[1]
    return notification === undefined ? { kind, agent: value } : { kind, webhook: notification }
  }
  if (kind === 'deny' || kind === 'fail') return { kind }
  throw invalid('--unanswered must be deny, fail, proceed=ANSWER, escalate=AGENT or escalate=notification:NAME.')
}

/** Milliseconds; what 0 means is said to whoever writes something else. */
export async function duration(
  option: string,
  written: string | undefined,
  zero = '0 means no limit',
): Promise<number | undefined> {
  if (written === undefined) return undefined
  const { longestMs, parseDuration } = await import('../../config/duration.ts')
  const ms = parseDuration(written)
  if (ms === undefined) throw invalid(`${option} must be a duration such as 90s, 30m or 2h; ${zero}.`)
  if (ms > longestMs) throw invalid(`${option} must be at most 24d; ${zero}.`)
  return ms
}

/** One that cannot be nothing. */
async function time(option: string, written: string | undefined): Promise<number | undefined> {
  const ms = await duration(option, written, 'leave it out for no limit')
  if (ms === 0) throw invalid(`${option} must be longer than nothing; leave it out for no limit.`)
  return ms
}

export function count(option: string, written: string | undefined, least: number): number | undefined {
  if (written === undefined) return undefined
  const number = /^\d{1,12}$/.test(written) ? Number(written) : Number.NaN
  if (!(number >= least)) throw invalid(`${option} must be a whole number of at least ${least}.`)
  return number
}

function dollars(option: string, written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const number = /^\$?\d{1,9}(\.\d{1,6})?$/.test(written) ? Number(written.replace('$', '')) : Number.NaN
  if (Number.isNaN(number)) throw invalid(`${option} must be an amount of dollars such as 2 or 0.50.`)
  return number
}

function share(option: string, written: string | undefined): number | undefined {
  if (written === undefined) return undefined
  const number = /^\d(\.\d+)?$/.test(written) ? Number(written) : Number.NaN
  if (!(number >= 0 && number <= 1)) throw invalid(`${option} must be a part between 0 and 1, such as 0.5.`)
  return number
}

/** The fields that have a value; undefined if none has. */
function some<T extends object>(fields: T): { [K in keyof T]?: NonNullable<T[K]> } | undefined {
  const given = Object.entries(fields).filter(([, value]) => value !== undefined)
  return given.length > 0 ? (Object.fromEntries(given) as { [K in keyof T]?: NonNullable<T[K]> }) : undefined
}
