import type { EventType } from '../event/event.ts'

/** An address that a client wants told of one task, with what it wants to be shown there. */
export interface NewListener {
  /** What the client calls it; ours if left out. The same name again takes the place of the one before. */
  readonly name?: string | undefined
  readonly url: string
  /** Shown to the address as it is, so that it knows what it is told. */
  readonly token?: string | undefined
  /** How we say who we are there: a scheme of HTTP, and what goes with it. */
  readonly scheme?: string | undefined
  readonly credentials?: string | undefined
  /** The version of the protocol in whose words it is told. */
  readonly wire: string
}

export interface ListenerView extends NewListener {
  readonly name: string
}

/** The events that listeners are told of. What an agent says while it works is for those who follow the task. */
export const toldEvents = [
  'run.admitted',
  'message.sent',
  'artifact.added',
  'task.requeued',
  'task.blocked',
  'task.parked',
  'task.review',
  'task.completed',
  'task.failed',
  'task.timed_out',
  'task.over_budget',
  'task.cancelled',
] as const satisfies readonly EventType[]
export type ToldEvent = (typeof toldEvents)[number]

/** More than this of one task is no list that anybody keeps. */
export const mostListeners = 20
