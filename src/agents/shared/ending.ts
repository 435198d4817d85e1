import { constants } from 'node:os'
import type { Exit } from '../../sandbox/process/child.ts'
import type { Verdict } from '../port.ts'
import { cut, type TextKeeper } from './text.ts'

type Facts = Omit<Verdict, 'outcome' | 'category' | 'message'>

/** The verdict that the end of the process alone decides, or undefined if it ended with a code that counts as good. */
export function judgeEnding(
  exit: Exit | undefined,
  given: {
    facts: Facts
    stderr: TextKeeper
    good?: readonly number[]
    /** What the program itself named as the reason; else its last line on standard error is quoted. */
    reason?: string | undefined
  },
): Verdict | undefined {
  const { facts } = given
  if (exit === undefined) {
    return { ...facts, outcome: facts.text === '' ? 'empty' : 'partial', message: 'It was stopped before it had finished.' }
  }
  if (exit.code === 0 || (exit.code !== null && given.good?.includes(exit.code))) return undefined
  const last = given.reason ?? lastLine(given.stderr)
  const why = last ? `: ${last}` : ''
  const signal = signalOf(exit)
  const complaint = given.stderr.text().trim()
  const failed = {
    ...facts,
    outcome: 'failed',
    ...(complaint === '' ? {} : { complaint }),
    ...(why === '' ? { isUnexplained: true } : {}),
  } as const
  if (signal) return { ...failed, category: 'crashed', message: `Killed by ${signal}${why}` }
  return { ...failed, category: 'exit_code', message: `Exit code ${exit.code}${why}` }
}

// Reversed, so that of two names for one number the usual one stays.
const signalNames = new Map(
  Object.entries(constants.signals)
    .toReversed()
    .map(([name, number]) => [number, name]),
)

/** A shell and the walls' own init report a child that was killed by signal n as exit code 128 + n. */
function signalOf(exit: Exit): string | undefined {
  if (exit.code === null) return exit.signal ?? 'an unknown signal'
  return exit.code > 128 ? signalNames.get(exit.code - 128) : undefined
}

function lastLine(stderr: TextKeeper): string | undefined {
  const line = stderr.text().trimEnd().split('\n').at(-1)?.trim()
  return line && cut(line, 500)
}
