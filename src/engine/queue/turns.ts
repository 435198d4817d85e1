import type { Candidate } from '../../store/admission.ts'
import type { Turn } from '../../store/suspects.ts'

/** So long others are admitted although a suspect waits: a scope that drains stands idle until its longest run has ended, which only pays now and then. */
export const othersTurnMs = 10 * 60_000

/**
 * Suspects run alone, and take turns with all others. Where nothing runs, rank decides who starts; after a suspect's alone time the others come first. Where others keep
 * the scope busy, nothing more is admitted once they have had ten minutes: then what runs ends, and the best suspect starts. So each suspect comes to its turn, and
 * however many there are, nobody else waits for longer than the end of what runs and one alone time.
 */
export function whoMayStart({
  turn,
  others,
  suspect,
  nowMs,
}: {
  turn: Turn
  /** Both by rank, as if the other kind did not exist. */
  others: readonly Candidate[]
  suspect: Candidate | undefined
  nowMs: number
}): readonly Candidate[] {
  if (turn.isAlone) return []
  if (!suspect?.suspect) return others
  const suspectedMs = Date.parse(suspect.suspect.since)
  const lastTurnMs = turn.lastTurnAt?.getTime() ?? Number.NEGATIVE_INFINITY
  const isDue = isOver(Math.max(suspectedMs, lastTurnMs), nowMs)
  if (turn.isBusy) return isDue ? [] : others
  const [best] = others
  const isFirst = best === undefined || isDue || (lastTurnMs <= suspectedMs && suspect.rank <= best.rank)
  return isFirst ? [suspect] : others
}

/** Also if it began in what is now the future: the clock was set back. */
const isOver = (beganMs: number, nowMs: number) => nowMs - beganMs >= othersTurnMs || beganMs - nowMs > 60_000
