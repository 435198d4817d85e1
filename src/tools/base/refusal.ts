import type { z } from 'zod'
import { didYouMean, nearest } from '../../domain/base/nearest.ts'

/** Why a tool does not take what a model gave it, in sentences from which the model can put it right. */
export function refusalOf(
  issues: readonly z.core.$ZodIssue[],
  { tool, keys }: { tool: string; keys: readonly string[] },
): string {
  return issues
    .flatMap((issue) => {
      if (issue.code === 'unrecognized_keys') return issue.keys.map((key) => unknownKey(key, tool, keys))
      const place = issue.path.length === 0 ? `The input of ${tool}` : `"${issue.path.join('.')}" of ${tool}`
      return [`${place} ${demand(issue)}.`]
    })
    .join(' ')
}

function unknownKey(key: string, tool: string, keys: readonly string[]): string {
  const start = `${tool} has no "${key}"`
  return nearest(key, keys) === undefined ? `${start}; it takes ${keys.join(', ')}.` : start + didYouMean(key, keys)
}

const nouns: Record<string, string> = { string: 'a text', array: 'a list', object: 'an object' }

function demand(issue: z.core.$ZodIssue): string {
  const parts = (origin: string) => (origin === 'array' ? 'items' : 'characters')
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns[issue.expected] ?? issue.expected}`
    case 'too_small':
      return issue.minimum === 1 ? 'must not be empty' : `must have at least ${issue.minimum} ${parts(issue.origin)}`
    case 'too_big':
      return `must have at most ${issue.maximum} ${parts(issue.origin)}`
    default:
      return `is not accepted: ${issue.message}`
  }
}
