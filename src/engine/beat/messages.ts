import type pg from 'pg'
import type { Held } from '../../store/workers.ts'

/** Given to the thread at its start. */
export interface ThreadData {
  readonly connection: pg.ClientConfig
  /** Two times of the system's monotonic clock in ns, which all threads share: see `tickAt` and `confirmedAt`. */
  readonly times: BigInt64Array
  /** The thread ends the whole process when this one hangs. */
  readonly endsHung: boolean
}
/** Where in `times` we say that this thread lives, and where the thread says when the last confirmed beat was sent. */
export const tickAt = 0
export const confirmedAt = 1

/** Without `ask` it only says for whom to beat. */
export type Asked = { readonly ask?: number; readonly worker: string } | 'close'
export type Answered = { readonly ask: number } & ({ readonly held: Held | undefined } | { readonly error: string })
