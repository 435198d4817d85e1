import { type ErrorCode, messageOf, PawlError } from '../../domain/error.ts'
import { jsonLine, plain } from '../text/plain.ts'
import { nameSources } from './source-places.ts'
import { print, printData } from './terminal.ts'

const exitCodes = {
  invalid: 2,
  not_found: 1,
  conflict: 1,
  denied: 1,
  limited: 75,
  unsupported: 1,
  unavailable: 1,
  internal: 1,
} satisfies Record<ErrorCode, number>

/** Says what went wrong where the reader looks for it, and gives the exit code. */
export function reportFailure(thrown: unknown, options: { json: boolean }): number {
  const known = thrown instanceof PawlError
  const code = known ? thrown.code : 'internal'
  const message = known ? thrown.message : `Pawl made a mistake: ${messageOf(thrown)}`
  if (options.json) printData(`${jsonLine({ error: { code, message } })}\n`)
  print(process.stderr, `pawl: ${plain(message)}\n`)
  if (!known && thrown instanceof Error && thrown.stack) print(process.stderr, `${plain(nameSources(thrown.stack))}\n`)
  return exitCodes[code]
}
