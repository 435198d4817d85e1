import type { Turn, Verdict } from '../port.ts'

/** What becomes of a turn that cannot begin; undefined if it can. `isUnbidden`: the program has gone to work while nobody had asked it to. */
export function refusedTurn({ signal }: Pick<Turn, 'signal'>, isUnbidden = false): Verdict | undefined {
  if (signal.aborted) return { outcome: 'empty', text: '', message: 'It was stopped before it had begun.' }
  if (!isUnbidden) return undefined
  return { outcome: 'failed', category: 'crashed', text: '', message: 'It had gone to work by itself between two turns.' }
}
