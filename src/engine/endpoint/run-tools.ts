import { join } from 'node:path'
import type { Permission, PermissionRequest } from '../../agents/port.ts'
import type { McpServers } from '../../domain/agent/mcp-server.ts'
import type { ScriptSkill } from '../../domain/agent/skill.ts'
import { type HostPath, hostPath } from '../../domain/base/path.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { Walls } from '../../sandbox/port.ts'
import type { Child } from '../../sandbox/process/child.ts'
import type { ServerFacts, ServerPlace } from '../../tools/servers/port.ts'

/** What the tools work with that one run is offered beyond those of every run. */
export interface RunTools {
  readonly profile: Profile
  readonly walls: Pick<Walls, 'workspace' | 'mounts' | 'masks' | 'user'>
  permit(request: PermissionRequest): Promise<Permission>
  /** Asks a person, whatever the rules allow. */
  approve(request: PermissionRequest): Promise<Permission>
  /** Starts a command in walls like those of the run, which ends without the program. */
  launch(command: { readonly file: string; readonly args: readonly string[] }): Promise<Child>
  readonly ssh: {
    readonly folder: string
    key(name: string): Promise<string>
    audit(act: RemoteAct): Promise<void>
  }
  readonly scripts: readonly ScriptSkill[]
  /** The user's own servers of tools; undefined if there are none. */
  readonly servers?: ServersOfRun | undefined
}

/** What an agent did, or was refused, on another machine. */
export interface RemoteAct {
  readonly tool: string
  readonly host: string
  readonly what: string
  readonly state: string
  readonly level?: number | undefined
  readonly code?: number | null | undefined
  readonly bytes?: number | undefined
  readonly why?: string | undefined
}

/** What serves the user's servers to one run. */
export interface ServersOfRun {
  readonly servers: McpServers
  readonly place: ServerPlace
  isOffered(tool: string): boolean
  telling(name: string): {
    onReached(facts: ServerFacts & { readonly tools: readonly string[]; readonly tookMs: number }): void
    onFailed(sentence: string, isSignIn: boolean): void
  }
}

/** HOME of what the tools start. The session home is the program's: its conversation, its settings and its login lie there. */
export const toolHome = ({ records }: { readonly records: string }): HostPath => hostPath(join(records, 'home'))
