import type { Adapter, Command, LaunchSpec, Verdict } from '../../src/agents/port.ts'
import { type AgentEvent } from '../../src/domain/event/event.ts'
import type { Child } from '../../src/sandbox/process/child.ts'
import { type Place } from './launch.ts'
/** How the contract talks to one adapter. */
export interface AdapterCases<Options> {
  /** Options that work here, as a user would write them, for a program that answers any prompt and repeats its first 20 characters. */
  readonly options: Record<string, unknown>
  /** What else its launch and its probe need: where its model is, and which. */
  readonly launch?: Partial<LaunchSpec<Options>> | undefined
  /** Options whose program is not there. */
  readonly missing?: Options | undefined
  /** What the adapter's program prints to say something, and to give its answer. */
  readonly says: (text: string) => string
  readonly answers: (text: string) => string
  /** The program that plays steps, for protocols in which it speaks only when spoken to. */
  readonly program?: ((steps: Step[], place: Place) => Command) | undefined
  /** An answer ends the turn at once, because the program then waits for another: how it exits later says nothing about it. */
  readonly answersEndTurns?: boolean | undefined
}
export type Step = Record<string, unknown>
/** What every adapter owes the engine, whatever its program does. */
export declare function adapterContract<Options>(adapter: Adapter<Options>, cases: AdapterCases<Options>): void
export declare const fakeAgent: string
/** The fake agent with a script, given by file because a script may be longer than an environment. */
export declare const scripted: (steps: Step[], place: Place, output?: 'text' | 'jsonl') => Command
export declare function makePlace(): Promise<Place>
/** One turn; checks that every event is one that can be stored, and that none comes after the verdict. */
export declare function converse<Options>(
  adapter: Adapter<Options>,
  child: Child,
  spec: LaunchSpec<Options>,
  turn?: {
    prompt?: string
    signal?: AbortSignal
    emit?: (event: AgentEvent) => Promise<void>
  },
): Promise<{
  verdict: Verdict
  events: AgentEvent[]
  asked: {
    kind: 'free' | 'permission'
    text: string
    options: string[]
    multiSelect?: boolean | undefined
  }[]
  conversation: import('../../src/agents/port.ts').Conversation
}>
