import { inSeconds, maxLostAlone, type Suspect } from '../../domain/task/suspect.ts'
import type { RunEnd } from '../../store/runs.ts'

/** Known only where a worker was found dead; a lease that goes back for any other reason is no death. */
export interface WorkerDeath {
  readonly worker: string
  readonly host: string
  /** How long the run had lasted by the worker's last beat. */
  readonly lastedMs: number
}

export interface RunAtDeath {
  readonly death?: WorkerDeath | undefined
  /** Its program had started. The end of a run that never came so far says nothing about the task. */
  readonly hasStarted: boolean
  /** Nothing else was admitted in its scope while it ran, because its task was a suspect. */
  readonly wasAlone: boolean
}

/** What the end of a run makes of the suspicion against its task. An end of its own clears it. */
export function suspicionAfter(end: RunEnd, before: Suspect | null, run: RunAtDeath, at: Date): Suspect | null {
  if (!run.hasStarted) return before
  if (end.outcome !== 'lost') return null
  if (!run.death) return before
  const { worker, host, lastedMs } = run.death
  const lostAlone = before?.lostAlone ?? []
  return {
    since: at.toISOString(),
    worker,
    host,
    lastedMs,
    deaths: (before?.deaths ?? 0) + 1,
    lostAlone: run.wasAlone ? [...lostAlone, lastedMs] : lostAlone,
  }
}

/** So often has the worker died while only this task ran that a person must decide. */
export const isHeld = (suspect: Suspect | null | undefined): suspect is Suspect =>
  suspect !== null && suspect !== undefined && suspect.lostAlone.length >= maxLostAlone

/** What is known of a task that has taken its workers down. */
export const heldWords = ({ host, lostAlone }: Suspect): string =>
  `The worker died ${lostAlone.length} times while only this task ran, the last time on ${host}, after runs of ${lostAlone.map(inSeconds).join(' and ')}.`
