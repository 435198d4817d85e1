import type { Server } from 'node:net'
import type { HostPath, SandboxPath } from '../domain/base/path.ts'
import { PawlError } from '../domain/error.ts'
import type { Child, KillUnit } from './process/child.ts'

/** A program to start, as data: the sandbox decides how it is really run. */
export interface Command {
  readonly file: string
  readonly args: readonly string[]
  /** Added to the fresh environment that the walls build; nothing of ours is inherited. */
  readonly env: Readonly<Record<string, string>>
  /** Files to put into the session home before the start, by relative path; folders on the way are made. */
  readonly files?: Readonly<Record<string, string | Uint8Array>> | undefined
  /** The same for a home that has nothing by their names yet. */
  readonly firstFiles?: Readonly<Record<string, string>> | undefined
  /** Programs that it starts in its turn, by absolute path: they are shown inside the walls as `file` is. */
  readonly programs?: readonly string[] | undefined
}

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
  /**
   * Wraps a command of our own so that it sees the system's programs and these folders and nothing else, with the rights that we have. For commands that walk by
   * path where another run's agent may write: a link that is swapped in midway leads nowhere. Left out where that cannot be done.
   */
  confine?(
    command: readonly string[],
    folders: { readonly read: readonly string[]; readonly write: string },
  ): Promise<readonly string[]>
  /** Gets ready ahead what the next launch would have to wait for, for whoever stays long enough. Rejects if that cannot be done here; then every launch does it for itself, as it does without. */
  readonly ahead?: { start(): Promise<void>; stop(): void } | undefined
}

/** The sandbox was killed, or too slow, while it was built: the same launch may work a moment later. */
export class LaunchInterrupted extends PawlError {
  constructor(message: string, cause: unknown) {
    super('unavailable', message, { cause })
  }
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

/** What one run may see and do. Of the machine it sees programs and settings, read-only; whatever is not named here is not there. */
export interface Walls {
  readonly unit: KillUnit
  /** Where the command starts; writable. Its files lie at `source` and are seen at `path`. */
  readonly workspace: { readonly source: HostPath; readonly path: SandboxPath; readonly mark?: Marked }
  /** The session's own home; writable; HOME inside. */
  readonly home: HostPath
  /** Paths that are hidden wherever they would be seen, in a workspace or a mount: our own home and store first of all. */
  readonly hidden: readonly HostPath[]
  /** Real paths that are hidden in the same way, unless a mount names that very one or something in it. */
  readonly covered?: readonly HostPath[] | undefined
  /** The unprivileged user to become when Pawl itself is root. */
  readonly user?: { readonly uid: number; readonly gid: number } | undefined
  /** `none`: nothing but the walls' own loopback, with the door if there is one. */
  readonly network: 'none' | 'host'
  /** Wants a listener inside the walls through which the agent reaches us. */
  readonly door: boolean
  readonly limits: WallLimits
  /** More of the machine: what lies at `source` is seen at `path`. A path asked for twice is laid once, writable if anybody asked for that; a source that is missing is refused. */
  readonly mounts?: readonly {
    readonly source: HostPath
    readonly path: SandboxPath
    readonly mode: 'ro' | 'rw'
    readonly mark?: Marked
  }[]
  /** Laid over what the agent sees, after everything else and in this order. What is masked cannot be moved away, nor can the folders that lead to it. */
  readonly masks?: readonly Mask[]
  /** May namespaces be made inside? Programs that bring a sandbox of their own need it. */
  readonly nestedNamespaces?: boolean
}

/** What was at a source when somebody looked (`markOf`): if anything else is mounted there, nothing starts. */
export type Marked = string | undefined

/** By which a file or folder is known again, under whatever path it is found, for as long as it exists. */
export const markOf = ({ dev, ino }: { readonly dev: number; readonly ino: number }) => `${dev}:${ino}`

/** What may not be seen, or not be changed, although it lies in a writable directory. Paths are as seen inside, exist, and lead over no link; others are refused. */
export type Mask =
  | { readonly kind: 'nothing'; readonly path: SandboxPath }
  | { readonly kind: 'readonly'; readonly path: SandboxPath }
  /** Shows another file or directory, read-only unless it says otherwise. */
  | {
      readonly kind: 'instead'
      readonly path: SandboxPath
      readonly source: HostPath
      readonly writable?: true
      readonly mark?: Marked
    }

export interface WallLimits {
  readonly processes: number
  readonly openFiles: number
  readonly memoryBytes?: number | undefined
  /** The largest single file. */
  readonly fileBytes?: number | undefined
}

/** What holds a limit: the kernel's account of the whole tree, Pawl looking at the whole tree again and again, a limit of each single process, or nothing. */
export type LimitHolder = 'tree' | 'watched' | 'process' | 'none'

export interface Walled {
  readonly child: Child
  /** Does nothing but the agent itself live inside, nothing that it started? False also where nobody can tell. */
  isAlone(): boolean
  /** Stops what lives inside. Left out where nobody can tell that all of it is stopped. */
  readonly freezer?: Freezer | undefined
  /** Stops the agent in the middle of its turn, as far as `child.stop` would reach it. Left out where the freezer does that. */
  readonly pauser?: Pauser | undefined
  /** What holds each limit of this run. */
  readonly held?: Readonly<Record<'processes' | 'openFiles' | 'memory' | 'file', LimitHolder>>
  /** Tells, once and before the end is seen, that all inside is ended because it took more than a limit. */
  onLimit?(tell: (limit: 'memory') => void): void
  /** Listening inside the walls, accepting here: whoever connects is this run. Undefined if none was asked for. */
  readonly door?: { readonly server: Server; readonly url: string } | undefined
}

/** What stops this program for a while. One that cannot be stopped has to be ended. */
export const pauserOf = ({ freezer, pauser }: Walled): Pauser => freezer ?? pauser ?? unstoppable
const unstoppable: Pauser = { freeze: async () => false, thaw: async () => undefined }

/** Stops all processes of an agent, and lets them go on. */
export interface Pauser {
  /** True when nothing of it runs any more. False: that could not be done, and some of it may be stopped; end it. */
  freeze(): Promise<boolean>
  /** Lets all go on; resolves when what was due meanwhile has been done, or after a moment. */
  thaw(): Promise<void>
}

/** Stops everything inside a sandbox between two turns, so that nobody there writes or runs anything. */
export interface Freezer extends Pauser {
  /** Does what was mounted and masked at the start still lie where it was laid? */
  isCovered(): boolean
}
