import type { IncomingMessage, ServerResponse } from 'node:http'
import type { ToolExchange } from '../../domain/agent/tool-exchange.ts'
import { conflict } from '../../domain/error.ts'
import type { QuestionAsked } from '../../domain/question/question.ts'
import type { SubtaskVerbs } from '../../domain/task/subtask.ts'
import type { ModelDoor } from '../../gateway/serving/gateway.ts'
import { createFetcher, type Fetcher } from '../../sandbox/egress/fetch.ts'
import { type Network, type NetworkAccess, openNetwork } from '../../sandbox/egress/network.ts'
import type { RunTools } from './run-tools.ts'

/** What an agent may ask of Pawl through the listener inside its walls, for the run that it works on. What resolves is stored. */
export interface DoorVerbs {
  describe(): { task: string; run: string; attempt: number }
  ask(question: QuestionAsked): Promise<{ id: string }>
  /** The same, and waits for the answers as long as somebody watches who can give them soon. Undefined if they did not come: they are brought by a later run. */
  consult(questions: readonly QuestionAsked[]): Promise<readonly string[] | undefined>
  /** A message to the user beside the answer. */
  notify(text: string): Promise<void>
  /** Undefined where they are not served. */
  readonly subtasks?: SubtaskVerbs | undefined
  /** The way out for a run whose walls have no other. */
  readonly network?: NetworkAccess | undefined
  /** Opens the models of this run to whoever shows the token; undefined if they are none of ours. */
  readonly models?: ((token: string) => ModelDoor) | undefined
  /** What the tools of this run work with, for one that is offered more than every run is. */
  readonly runTools?: RunTools | undefined
}

/** The verbs as the tools have them: good while the run holds the door. */
export interface HeldVerbs extends Omit<DoorVerbs, 'network' | 'runTools' | 'models'> {
  /** Reads a page by the run's own way out, where it has one. */
  readonly fetch?: Fetcher | undefined
}

/** Serves tools: ours, or those of the user's server of that name. `close` resolves when no call of them is under way. */
export interface ToolHandler {
  /** What came over HTTP. */
  handle(request: IncomingMessage, response: ServerResponse, server?: string): Promise<void>
  /** What came over a pipe of the program. */
  readonly exchange: ToolExchange
  /** Resolves when all that is offered is known, or will not be soon. Undefined: it is. */
  readonly settled?: Promise<unknown> | undefined
  close(): Promise<void>
}

/** Makes the tools of one run. Rejects where they cannot be offered safely. */
export type ToolMaking = (verbs: HeldVerbs, run: RunTools | undefined) => ToolHandler | Promise<ToolHandler>

/** One run's hold on a door. */
export interface Holder {
  readonly verbs: HeldVerbs
  /** Undefined where none are served; else they may still be in the making. */
  readonly tools: Promise<ToolHandler> | undefined
  readonly network: Network | undefined
  readonly models: ModelDoor | undefined
  /** Resolves when all tools are known, or the run has let go of the door. */
  ready(): Promise<unknown>
  /** Nothing gets through from now on; resolves when what got through is done. */
  release(): Promise<void>
}

/** Wraps the verbs of a run so that they can be taken back from requests which began while it held the door. */
export function hold(verbs: DoorVerbs, token: string, toolsFor: ToolMaking | undefined): Holder {
  const calls = new Set<Promise<unknown>>()
  let isReleased = false
  const released = Promise.withResolvers<void>()
  const refuseAfterRelease = () => {
    if (isReleased) throw conflict('The run that this was asked for is over; try again in your next turn.')
  }
  async function counted<T>(call: () => Promise<T>): Promise<T> {
    refuseAfterRelease()
    const promise = call()
    calls.add(promise)
    return promise.finally(() => calls.delete(promise))
  }
  const { network: access, subtasks } = verbs
  const network = access && openNetwork({ ...access, ask: (target) => counted(() => access.ask(target)) })
  const held: HeldVerbs = {
    describe() {
      refuseAfterRelease()
      return verbs.describe()
    },
    ask: (question) => counted(() => verbs.ask(question)),
    consult: (questions) => counted(() => verbs.consult(questions)),
    notify: (text) => counted(() => verbs.notify(text)),
    subtasks: subtasks && {
      mayCreate: subtasks.mayCreate,
      create: (asked, key) => counted(() => subtasks.create(asked, key)),
      list: () => counted(() => subtasks.list()),
      get: (id) => counted(() => subtasks.get(id)),
      own: () => counted(() => subtasks.own()),
    },
    fetch: network && createFetcher(network),
  }
  const models = verbs.models?.(token)
  const tools = toolsFor && (async () => toolsFor(held, verbs.runTools))()
  // Whoever gives the door away is told; nobody else has to.
  tools?.catch(() => undefined)
  return {
    verbs: held,
    tools,
    network,
    models,
    ready: async () => Promise.race([(await tools)?.settled, released.promise]),
    async release() {
      isReleased = true
      released.resolve()
      network?.close()
      await models?.close()
      await Promise.allSettled(calls)
      await tools?.then(
        (made) => made.close(),
        () => undefined,
      )
    },
  }
}
