import type { Verdict } from '../port.ts'
import { answerChars, cut } from '../shared/text.ts'
import type { ClientResult } from './records.ts'

type Facts = Pick<Verdict, 'text' | 'vendorSession'>

/** What the end of a remote task means here. What it cost is known to nobody here, so nothing is said of it. */
export function judgeResult(result: ClientResult, facts: Facts, where: string): Verdict {
  const text = cut(result.text, answerChars).trim() || facts.text
  const said = { ...facts, text }
  const reason = text === '' ? 'It gave no reason.' : cut(text, 1_000)
  const failed = { ...said, outcome: 'failed' as const }
  switch (result.status) {
    case 'done': {
      if (text !== '') return { ...said, outcome: 'succeeded' }
      const files = result.files ?? []
      if (files.length > 0) return { ...said, outcome: 'succeeded', text: `It left ${files.join(', ')}.` }
      return { ...said, outcome: 'empty', category: 'empty_answer', message: 'It ended well but said nothing.' }
    }
    case 'blocked':
      return { ...said, outcome: 'blocked', message: 'It waits for the answer to its question.' }
    case 'stopped':
      return { ...said, outcome: text === '' ? 'empty' : 'partial', message: 'It was stopped before it had finished.' }
    case 'auth':
      return {
        ...failed,
        category: 'auth_failed',
        message: `The remote agent at ${where} must be let in somewhere before it can go on: ${reason} Do what it asks for, then try the task again; it goes on with the same remote task.`,
      }
    case 'rejected':
      return {
        ...failed,
        category: 'reported_failure',
        message: `The remote agent at ${where} does not take this task: ${reason}`,
      }
    case 'canceled':
      return {
        ...failed,
        category: 'reported_failure',
        message: `The remote agent at ${where} cancelled the task by itself. ${reason}`,
      }
    case 'unable':
      return { ...failed, category: 'reported_failure', message: `The remote agent at ${where} failed: ${reason}` }
    case 'failed':
      return failure(result, failed)
  }
}

function failure({ code = 'crashed', message, retryAfterMs }: ClientResult, failed: Facts & { outcome: 'failed' }): Verdict {
  const told = { ...failed, message: cut(message ?? 'It gave no reason.', 2_000) }
  if (code === 'rate_limited' && retryAfterMs !== undefined)
    return { ...told, category: 'usage_limit', retryAt: new Date(Date.now() + retryAfterMs) }
  return { ...told, category: code }
}
