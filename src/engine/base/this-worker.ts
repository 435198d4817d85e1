import type { Clock } from '../../base/clock.ts'
import { newId } from '../../domain/id.ts'

/** The worker that this process is at the moment. */
export interface ThisWorker {
  readonly id: string
  /** Gives it a new id, after others have declared the old one dead. */
  renew(): void
}

export function createThisWorker(clock: Clock): ThisWorker {
  let id = newId('worker', clock.now())
  return {
    get id() {
      return id
    },
    renew() {
      id = newId('worker', clock.now())
    },
  }
}
