import type { Clock } from '../../base/clock.ts'
import type { Db } from '../../store/database.ts'
import { isPassing } from '../../store/database.ts'
import { findQuestions, releaseQuestions } from '../../store/questions.ts'
import type { QuestionRow } from '../../store/tables.ts'

export interface Window {
  readonly db: Db
  readonly clock: Clock
  readonly fence: number
  readonly lastsMs: number
  /** Tells of answers that came in this process, or that another told of. Only a hint. */
  readonly onAnswer: (tell: () => void) => () => void
  readonly signal: AbortSignal
  /** Called as long as it waits: waiting is no silence of the agent's. */
  readonly beat: () => void
}

/** Another process may answer, and its word of it may be lost. */
const lookEveryMs = 250

/**
 * Waits for the answers to questions that the run holds. The end of the window and an answer want the same rows, and so exactly one of them is first: undefined means that
 * the run does not wait any more, and an answer that comes from then on finds it so.
 */
export async function waitForAnswers(ids: readonly string[], window: Window): Promise<readonly string[] | undefined> {
  const { db, clock, fence, signal } = window
  const endsAt = clock.monotonic() + window.lastsMs
  let woken = Promise.withResolvers<void>()
  const wake = () => woken.resolve()
  const unhear = window.onAnswer(wake)
  signal.addEventListener('abort', wake)
  try {
    for (;;) {
      window.beat()
      const rows = await whileAway(() => findQuestions(db, ids))
      if (rows?.every((row) => row.state === 'answered')) return answersOf(rows)
      const isOver = clock.monotonic() >= endsAt || signal.aborted || rows?.some((row) => isClosed(row, fence))
      if (isOver) break
      const cancel = clock.after(Math.min(lookEveryMs, Math.max(endsAt - clock.monotonic(), 1)), wake)
      await woken.promise
      woken = Promise.withResolvers()
      cancel()
    }
    const left = await whileAway(() => releaseQuestions(db, ids, fence))
    // While the database is away nobody can say who was first: the answer is brought by the next run.
    if (left === undefined || left.length > 0) return undefined
    const rows = await findQuestions(db, ids)
    return rows.every((row) => row.state === 'answered') ? answersOf(rows) : undefined
  } finally {
    unhear()
    signal.removeEventListener('abort', wake)
  }
}

const answersOf = (rows: readonly QuestionRow[]) => rows.map((row) => row.answer ?? '')
const isClosed = ({ state, held_by }: QuestionRow, fence: number) =>
  (state !== 'pending' && state !== 'answered') || (state === 'pending' && held_by !== fence)

async function whileAway<T>(ask: () => Promise<T>): Promise<T | undefined> {
  try {
    return await ask()
  } catch (error) {
    if (isPassing(error)) return undefined
    throw error
  }
}
