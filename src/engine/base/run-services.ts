import type { Adapter, AgentHealth } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { GuardrailSettings } from '../../domain/run/guardrails.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import type { Gateway } from '../../gateway/serving/gateway.ts'
import type { Redactor } from '../../redact/redactor.ts'
import type { Sandbox, SandboxHealth } from '../../sandbox/port.ts'
import type { Db } from '../../store/database.ts'
import type { Contexts } from '../../telemetry/contexts.ts'
import type { Listener } from '../../telemetry/telemetry.ts'
import type { TokenKeeper } from '../../tools/servers/port.ts'

/** What the process gives every run: its stores, its settings, and ways to the sandbox, the secrets and the gateway. A room names those that it uses. */
export interface RunServices {
  readonly db: Db
  readonly clock: Clock
  readonly log: Log
  readonly home: string
  /** With the options of an agent: as it is for that agent. */
  readonly adapterNamed: (name: string, options?: unknown) => Adapter
  /** What is known of the program that an agent is. */
  readonly programOf: (agent: ResolvedAgent) => Pick<Adapter, 'title' | 'tried'>
  /** Those of the settings, for subtasks that are given to another agent. */
  readonly agents: readonly ResolvedAgent[]
  /** The walls for a profile, and whether they can be built. */
  readonly wallsFor: (profile: Pick<Profile, 'walls'>) => Promise<{ sandbox: Sandbox; health: SandboxHealth }>
  /** The files that programs execute or obey, wherever they find them. */
  readonly codePaths: readonly CodePath[]
  /** The search path of agents, and variables of Pawl's own environment by name. */
  readonly path: string
  readonly environment: (names: readonly string[]) => Record<string, string>
  /** What the settings give the agents of one user. */
  readonly userEnvironment: (user: string) => Profile['env'] | undefined
  /** The home of Pawl's own user, where programs keep their logins. */
  readonly userHome: string
  readonly redactor: Redactor
  /** The secrets that a profile names, for a run of this agent and this user. Refuses if one is not set. */
  readonly secretsFor: (wanted: Profile['secrets'], run: { agent: string; user: string }) => Promise<readonly GivenSecret[]>
  /** Is told what asking the program showed after a run that failed and did not say why. */
  readonly onFound?: ((agent: string, health: AgentHealth) => void) | undefined
  /** Serves their models to agents. Undefined: all of them ask for it themselves. */
  readonly gateway?: (() => Promise<Gateway>) | undefined
  readonly guardrails: GuardrailSettings
  /** How large one may grow, and the workspace with it. */
  readonly recordings: { readonly maxMb: number }
  /** How many tasks may wait, subtasks among them. */
  readonly maxQueued?: number | undefined
  /** Undefined where nobody collects spans. */
  readonly telemetry?: Listener | undefined
  /** What goes along with what a run asks of others. */
  readonly contexts?: Contexts | undefined
  /** Where what lets Pawl in at servers of tools is kept, and what is known of them. */
  readonly serverTokens?: TokenKeeper | undefined
}

export interface GivenSecret extends Secret {
  /** The variable that the program finds it in. */
  readonly variable: string
}
