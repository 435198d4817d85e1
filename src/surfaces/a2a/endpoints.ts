import { PushNotificationNotSupportedError } from '@a2a-js/sdk/errors'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import type { Log } from '../../base/log.ts'
import { notFound } from '../../domain/error.ts'
import type { ListenerVerbs } from '../../operations/listeners.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { SaidVerbs } from '../../operations/tasks/transcript.ts'
import { taskHere } from './access.ts'
import { type CardKey, ensureCardKey } from './card-key.ts'
import { type CardParts, createCards } from './cards.ts'
import { createA2AHandler } from './handler.ts'
import { jsonRpcOf } from './json-rpc.ts'
import type { A2AParts } from './parts.ts'
import { createPushConfigs } from './push-configs.ts'
import { restOf } from './rest.ts'

/** What A2A as a whole stands on: the daemon gives it. */
export interface A2AServerParts {
  readonly runtime: Runtime
  readonly said: SaidVerbs
  readonly log: Log
  readonly home: string
  readonly version: string
  /** The names of the agents that there are right now. */
  readonly agents: () => readonly string[]
  /** The address of the daemon as others see it; known once it listens. */
  readonly url: () => string
  /** Shows the cards of agents to everybody. */
  readonly publicCards: boolean
  /** Without it push notifications are refused. */
  readonly listeners?: ListenerVerbs | undefined
  readonly otherInterfaces?: CardParts['otherInterfaces']
  readonly planMessage?: A2AParts['planMessage']
  readonly signal: AbortSignal
}

export interface Endpoint {
  readonly handler: A2ARequestHandler
  readonly jsonRpc: ReturnType<typeof jsonRpcOf>
  readonly rest: ReturnType<typeof restOf>
}

export type Endpoints = ReturnType<typeof createEndpoints>

/** One endpoint for the daemon and one for each agent, made when somebody first asks for it. */
export function createEndpoints(server: A2AServerParts) {
  let key: Promise<CardKey> | undefined
  const cardKey = () => {
    key ??= ensureCardKey(server.home)
    return key
  }
  const cards = createCards({ ...server, key: cardKey, hasPush: server.listeners !== undefined })
  const made = new Map<string | undefined, Endpoint>()
  return {
    cardKey,
    /** Of an agent that is not there, or not any more, there is none. */
    of(agent: string | undefined): Endpoint {
      if (agent !== undefined && !server.agents().includes(agent)) throw notFound('There is no agent of this name here.')
      const known = made.get(agent)
      if (known) return known
      const handler = createA2AHandler({
        ...server,
        cards,
        agent,
        filesAt: () => `${server.url()}/api/v1/tasks`,
        pushConfigs() {
          if (!server.listeners) throw new PushNotificationNotSupportedError()
          return createPushConfigs(server.listeners, (task) => taskHere({ runtime: server.runtime, agent }, task))
        },
      })
      const endpoint = { handler, jsonRpc: jsonRpcOf(handler), rest: restOf(handler) }
      made.set(agent, endpoint)
      return endpoint
    },
  }
}
