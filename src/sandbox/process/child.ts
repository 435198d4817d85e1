import type { Readable, Writable } from 'node:stream'

/** Walls report an agent that died of signal n as code 128 + n, as a shell does; `signal` is then that of the walls themselves. */
export interface Exit {
  readonly code: number | null
  readonly signal: NodeJS.Signals | null
}

/**
 * A started process and everything it starts. Whoever gets it owes two things: read both outputs to their end or destroy them,
 * and call `stop` at the end, also after an exit, because what the process left behind is ended there.
 */
export interface Child {
  readonly pid: number
  readonly stdin: Writable
  readonly stdout: Readable
  readonly stderr: Readable
  /** Resolves when the process itself has ended, even while a grandchild still holds its pipes. Never rejects. */
  readonly exited: Promise<Exit>
  /**
   * Ends the whole tree: asks first (SIGTERM), waits `graceMs`, then kills from outside. Resolves when nothing of it lives.
   * Calling it twice, or after the end, is fine; a shorter grace given later wins. Rejects only if something outlives a SIGKILL.
   */
  stop(options: { graceMs: number }): Promise<Exit>
}

/**
 * What must die together. Stored before the spawn, so that a fresh worker can end what a dead one left.
 * `marker` stands in the environment of every process of the unit; `enforced` is false where only a process group holds it together.
 */
export interface KillUnit {
  readonly kind: 'pid_namespace' | 'process_group'
  readonly marker: string
  readonly enforced: boolean
}
