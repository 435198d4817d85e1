import type { Command } from '../../src/sandbox/port.ts'
import type { Child } from '../../src/sandbox/process/child.ts'
export interface Place {
  readonly workspace: string
  readonly home: string
}
/** Starts a command as real as can be, without walls. Whoever calls it owes `child.stop`. */
export declare function launch(command: Command, place: Place, env?: Record<string, string>): Promise<Child>
