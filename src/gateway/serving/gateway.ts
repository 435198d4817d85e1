import type { IncomingMessage, ServerResponse } from 'node:http'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { TraceContext } from '../../domain/base/trace-context.ts'
import { defaultLimits, type GatewayLimits } from '../base/limits.ts'
import type { Routing } from '../base/route.ts'
import type { CallFacts, Purse } from '../money/purse.ts'
import { createCooldowns } from '../provider/cooldowns.ts'
import { createUpstream } from '../provider/upstream.ts'
import type { Recorder, Replay } from '../recordings/recording.ts'
import { openModelDoor } from './model-door.ts'

/** One door to the models. Knows nothing of tasks: a run brings its routes, its money and whoever wants to hear. */
export interface Gateway {
  /** Opens it for one run. */
  open(run: GatewayRun): ModelDoor
  /** Lets go of the connections to providers that nobody uses. Doors are closed before. */
  close(): void
}

export interface GatewayOptions {
  readonly clock: Clock
  /** Those that differ from `defaultLimits`. */
  readonly limits?: Partial<GatewayLimits> | undefined
  /** Certificates to trust in place of the system's. */
  readonly ca?: string | undefined
}

export function createGateway({ clock, limits: given, ca }: GatewayOptions): Gateway {
  const limits = { ...defaultLimits, ...given }
  const upstream = createUpstream({ clock, limits, ca })
  const parts = { clock, limits, upstream, cooldowns: createCooldowns(clock) }
  return {
    open: (run) => openModelDoor(parts, run),
    close: () => upstream.close(),
  }
}

export interface GatewayRun {
  readonly routing: Routing
  readonly purse: Purse
  /** What a client must show, in any of the places where formats put a key. */
  readonly token: string
  /** What goes along with a call, so that the provider's spans lie below ours. */
  contextOf?(call: Pick<CallFacts, 'number' | 'startedAt'>): TraceContext | undefined
  /** Told of every request before it is read. `piece` is to be called for each piece of an answer, `over` at its end. */
  onAsked?(): { readonly piece: () => void; readonly over: () => void }
  /** Told of every call, when it is over and its money is settled. */
  onCall?(call: CallFacts): void
  /** The client asks again by itself and cannot be told not to: a refusal that may pass is given as one that will not. */
  readonly refusesForGood?: boolean | undefined
  readonly recorder?: Recorder | undefined
  readonly replay?: Replay | undefined
  readonly log: Log
}

export interface ModelDoor {
  /** Serves one request whose path below our prefix is `path`, with its query. Never rejects: what is wrong is said in the client's format. */
  serve(request: IncomingMessage, response: ServerResponse, path: string): Promise<void>
  /** Cuts what is under way, and resolves when all of it is settled. Refuses everything from then on. */
  close(): Promise<void>
}
