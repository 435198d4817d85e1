// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

/** The profiles that are always there. From the narrowest to the widest: a project that is not trusted may only move left. */
export const profileNames = ['strict', 'guarded', 'trusted-repo', 'unattended-open'] as const
export type ProfileName = (typeof profileNames)[number]

/**
 * What a run may see and do, with every setting decided. Plain JSON: it is copied into each run, so that what was in force can be
 * told for ever. Whoever reads a setting of a profile reads it here; nothing is looked up by name while a run lasts.
 */
export interface Profile {
  readonly name: string
  /** The built-in profile at the bottom of its `extends`; how wide it is at most. */
  readonly base: ProfileName
  /** False: no walls at all, with all the rights of Pawl's own user. Only `unattended-open` and what extends it. */
  readonly walls: boolean
  /** Patterns of tool calls, `Tool` or `Tool(argument pattern)`. The narrowest verdict wins: deny, then ask, then allow. */
  readonly rules: { readonly allow: readonly string[]; readonly ask: readonly string[]; readonly deny: readonly string[] }
  /** What becomes of a call that no rule names. */
  readonly otherwise: 'allow' | 'ask' | 'deny'
  /** `native: false` switches the program's own tools off and offers ours instead; `disabled` are never offered, whoever has them. */
  readonly tools: { readonly native: boolean; readonly disabled: readonly string[] }
  /** More of the machine than the workspace. Sources are absolute. */
  readonly mounts: readonly ProfileMount[]
  /** Host patterns, `host[:port]` or `*.host[:port]`. What no list names is refused. */
  readonly network: { readonly allow: readonly string[]; readonly ask: readonly string[]; readonly deny: readonly string[] }
  /** Names of Pawl's own variables that are passed on, and fixed values. */
  readonly env: { readonly pass: readonly string[]; readonly set: Readonly<Record<string, string>> }
  /** Secrets of the store by name, and the variable each is given in. */
  readonly secrets: readonly { readonly name: string; readonly variable: string }[]
  readonly limits: ProfileLimits
  /** Names, or `*` for all that there are. */
  readonly skills: readonly string[]
  readonly subagents: readonly string[]
  /** Which of the user's servers of tools its runs may have; all if left out. */
  readonly mcpServers?: readonly string[] | undefined
  /** Are the repository's own instruction files (AGENTS.md and its like) given to the agent? */
  readonly instructions: boolean
  /** Repositories whose own configuration counts, by path and by the digest of that configuration. */
  readonly trusted: readonly { readonly path: string; readonly digest: string }[]
  /** May the agent build namespaces of its own inside the walls, for a sandbox of its own? */
  readonly nestedNamespaces: boolean
  readonly ssh?: SshAccess | undefined
}

export interface ProfileMount {
  /** What the agent and its user call it. */
  readonly name: string
  readonly description: string
  /** Absolute. A folder `persistent` one is made if it is missing, and outlives every task. */
  readonly source: string
  /** Where it is seen inside; the same as `source` if nothing else was said. */
  readonly path: string
  readonly mode: 'ro' | 'rw'
  readonly persistent: boolean
  /** False: the run goes on without it if it is missing or cannot be shown, and says so. */
  readonly required: boolean
  /** A second place at which it is seen. */
  readonly alias?: string | undefined
  /** Who brought it, if not the profile: the settings of the task's user, or the task itself. */
  readonly from?: 'user' | 'task' | undefined
}

/** A folder of the machine that tasks may ask for by name, whole or in part. */
export interface MountBase {
  readonly path: string
  /** The most that a task may have. */
  readonly mode: 'ro' | 'rw'
  readonly description: string
  /** Only these users; all who may name mounts if left out. */
  readonly users?: readonly string[] | undefined
}

export interface ProfileLimits {
  readonly processes: number
  readonly openFiles: number
  readonly memoryMb: number
  /** The largest single file. */
  readonly fileMb: number
  /** What the workspace may grow by. */
  readonly diskMb: number
  readonly outputMb: number
}

export interface SshAccess {
  readonly hosts: readonly {
    readonly name: string
    readonly host: string
    readonly port: number
    readonly user: string
    readonly key: string
    readonly hostKey: string
  }[]
  readonly mode: 'readonly' | 'operations' | 'filtered_shell'
  readonly level: 0 | 1 | 2 | 3
}
