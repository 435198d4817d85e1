import type { z } from 'zod'

const nouns: Record<string, string> = {
  string: 'a text',
  number: 'a number',
  int: 'a whole number',
  boolean: 'true or false',
  object: 'a map of keys and values',
  record: 'a map of keys and values',
  array: 'a list',
}

/** `must be …`: what the schema wants, without what it got. */
export function demand(issue: z.core.$ZodIssue): string {
  // Our own schemas say it themselves; their messages start like the ones made here.
  if (/^(must|cannot|needs) /.test(issue.message)) return issue.message.replace(/\.$/, '')
  switch (issue.code) {
    case 'invalid_type':
      return `must be ${nouns[issue.expected] ?? `a ${issue.expected}`}`
    case 'invalid_value':
      return issue.values.length === 1
        ? `must be ${JSON.stringify(issue.values[0])}`
        : `must be one of ${issue.values.map((value) => String(value)).join(', ')}`
    case 'too_small':
      return issue.origin === 'array'
        ? `must have at least ${issue.minimum} ${issue.minimum === 1 ? 'item' : 'items'}`
        : issue.origin === 'string'
          ? issue.minimum === 1
            ? 'must not be empty'
            : `must have at least ${issue.minimum} characters`
          : `must be ${issue.inclusive === false ? 'more than' : 'at least'} ${issue.minimum}`
    case 'too_big':
      return issue.origin === 'array'
        ? `must have at most ${issue.maximum} items`
        : issue.origin === 'string'
          ? `must have at most ${issue.maximum} characters`
          : `must be ${issue.inclusive === false ? 'less than' : 'at most'} ${issue.maximum}`
    case 'invalid_union':
      if ('options' in issue && Array.isArray(issue.options)) return `must be one of ${issue.options.map(String).join(', ')}`
      return `must be one of these: ${[...new Set(issue.errors.flat().map((inner) => demand(inner).replace(/^must be /, '')))].join('; ')}`
    case 'invalid_key':
      return issue.issues[0]
        ? demand(issue.issues[0]).replace(/^must be a name/, 'must have a name')
        : 'has a key that is not allowed'
    case 'not_multiple_of':
      return `must be a multiple of ${issue.divisor}`
    case 'unrecognized_keys':
      return `has what is not known here: ${issue.keys.join(', ')}`
    default:
      return `is not accepted: ${issue.message.replace(/\.$/, '')}`
  }
}
