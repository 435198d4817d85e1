import { createLineSplitter } from '../../process/lines.ts'
import type { CustomOptions } from './options.ts'

/** It becomes an argument of a command and part of a path, whoever has printed it. */
export const idForm = /^[A-Za-z0-9](?:[A-Za-z0-9_:@-]|\.(?!\.)){0,127}$/

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
  const expression = new RegExp(pattern, 'iu')
  let lines = 0
  let last: { id: string; line: number } | undefined
  let hasEnded = false
  const splitter = createLineSplitter({
    maxBytes: maxLineBytes,
    onLine(text) {
      lines++
      if (at === 'start' && (last || lines > lookedAt)) return
      const id = expression.exec(text)?.[1]
      if (id !== undefined && idForm.test(id)) last = { id, line: lines }
    },
  })
  return {
    push: (chunk) => splitter.push(chunk),
    found: () => (at === 'start' || (hasEnded && last && last.line > lines - lookedAt) ? last?.id : undefined),
    end() {
      splitter.end()
      hasEnded = true
    },
  }
}
