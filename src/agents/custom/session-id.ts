import { createLineSplitter } from '../../sandbox/process/lines.ts'
import { idForm } from '../shared/program-sessions.ts'
import type { CustomOptions } from './options.ts'
import { matchesIn } from './pattern.ts'

/** The program greets with its id, or takes its leave with it: what tools print in between is no word of the program. */
const lookedAt = 50
const maxLineBytes = 2_048

export interface IdFinder {
  push(chunk: Buffer): void
  /** What is known by now; with `at: end` nothing is before the end. */
  found(): string | undefined
  end(): void
}

/** Looks for the id of a conversation in the one stream that is declared to hold it. Not finding one is no error. */
export function createIdFinder({ pattern, at }: NonNullable<CustomOptions['sessionId']>): IdFinder {
  /** Those that are still to be looked at: the first ones as they come, or the last ones when there are no more. */
  let held: string[] = []
  let lines = 0
  let id: string | undefined
  let hasGivenUp = false
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine(text) {
      lines++
      if (hasGivenUp || (at === 'start' && (id !== undefined || lines > lookedAt))) return
      held.push(text)
      if (at === 'end' && held.length > lookedAt) held.shift()
    },
  })
  function look(): void {
    if (held.length === 0) return
    const matches = matchesIn(pattern, at === 'end' ? held.toReversed() : held)
    held = []
    hasGivenUp = matches === undefined
    id ??= matches?.map(([, found]) => found).find((found) => found !== undefined && idForm.test(found))
  }
  return {
    push(chunk) {
      splitter.push(chunk)
      if (at === 'start') look()
    },
    found: () => id,
    end() {
      splitter.end()
      look()
    },
  }
}
