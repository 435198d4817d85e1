import { writeFileSync } from 'node:fs'
import { getPriority, setPriority } from 'node:os'

/** A third of the processor time that we get, where both want it. */
const nicer = 5
const nicest = 19

/**
 * Gives a program that we have started, and all that it will start, less processor time than us where there is not enough: hundreds of agents that start at once must
 * not keep the daemon from answering. Nothing is lost where it is refused.
 */
export function lowerPriority(pid: number): void {
  attempt(() => setPriority(pid, Math.min(getPriority() + nicer, nicest)))
  // Where the kernel shares the processors out among sessions first, a nice value counts only inside of one; this is the nice value of the whole session.
  attempt(() => writeFileSync(`/proc/${pid}/autogroup`, String(nicer)))
}

/** It may have ended already, and not every kernel has such groups, or lets us. */
function attempt(work: () => void): void {
  try {
    work()
  } catch {}
}
