import type { Server } from 'node:net'
import type { Command } from './agent.ts'
import type { Child, KillUnit } from './process/child.ts'

/** The walls around a run. The engine knows no more of them than this. */
export interface Sandbox {
  readonly name: string
  /** Can the walls be built here? Answers, never throws; the answer may be kept for the life of the process. */
  probe(): Promise<SandboxHealth>
  /** Names what will have to die together. Called and stored before `launch`. */
  killUnit(runId: string, fence: number): KillUnit
  /**
   * Starts the command inside the walls. Where there is a door, `{{PAWL_DOOR_URL}}` in an argument or a variable becomes its address. Rejects with a `PawlError` if it cannot; then nothing of it is left.
   * Must be called from the main thread: parent-death signals belong to the thread that forked.
   */
  launch(command: Command, walls: Walls): Promise<Walled>
}

export interface SandboxHealth {
  readonly available: boolean
  /** False: a process started here can get out, and every run says so. */
  readonly enforced: boolean
  readonly detail: string
  /** What to do about it, as a command where there is one. */
  readonly fix?: string
  /** Who agents become inside, when Pawl itself is root. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
}

/** What one run may see and do. */
export interface Walls {
  readonly unit: KillUnit
  /** Where the command starts; writable. Its files lie at `source` and are seen at `path`. */
  readonly workspace: { readonly source: string; readonly path: string }
  /** The session's own home; writable; HOME inside. */
  readonly home: string
  /** Paths that are hidden although the system is readable: our own home and store first of all. */
  readonly hidden: readonly string[]
  /** The unprivileged user to become when Pawl itself is root. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  readonly network: 'none' | 'host'
  /** Wants a listener inside the walls through which the agent reaches us. */
  readonly door: boolean
  readonly limits: { readonly processes: number; readonly openFiles: number }
}

export interface Walled {
  readonly child: Child
  /** Does nothing but the agent itself live inside, nothing that it started? False also where nobody can tell. */
  isAlone(): boolean
  /** Listening inside the walls, accepting here: whoever connects is this run. Undefined if none was asked for. */
  readonly door?: { readonly server: Server; readonly url: string } | undefined
}
