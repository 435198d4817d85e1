import type { AgentCard } from '@a2a-js/sdk'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import type { Log } from '../../base/log.ts'
import type { NewTask } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { SaidVerbs } from '../../operations/tasks/transcript.ts'

/** What one endpoint of A2A stands on. */
export interface A2AParts {
  readonly runtime: Runtime
  readonly said: SaidVerbs
  readonly log: Log
  readonly cards: Cards
  /** Throws `PushNotificationNotSupportedError` where nobody is told. */
  readonly pushConfigs: () => PushConfigs
  /** The agent whose endpoint this is; without it the daemon's own, where every agent can be asked. */
  readonly agent?: string | undefined
  /** The address under which files of tasks are served: what follows is the task's id. */
  readonly filesAt: () => string
  /** Decides by the id of a message what becomes of it. Conformance tests pass this; otherwise every message is a task. */
  readonly planMessage?: ((messageId: string) => MessagePlan) | undefined
  /** Ends every stream and every wait: the process stops. */
  readonly signal: AbortSignal
}

/** A plain reply, a refusal, or a task with these settings. */
export type MessagePlan =
  | { readonly reply: string }
  | { readonly refuse: string }
  | { readonly task: Pick<NewTask, 'agentConfig' | 'outputSchema'> }

/** The cards of an endpoint, signed. */
export interface Cards {
  /** As it is shown to everybody who may see it at all. */
  publicCard(agent: string | undefined): Promise<AgentCard>
  /** For whoever came in. */
  extendedCard(agent: string | undefined): Promise<AgentCard>
}

/** The four operations on where a task's client wants to be told. */
export type PushConfigs = Pick<
  A2ARequestHandler,
  | 'createTaskPushNotificationConfig'
  | 'getTaskPushNotificationConfig'
  | 'listTaskPushNotificationConfigs'
  | 'deleteTaskPushNotificationConfig'
>
