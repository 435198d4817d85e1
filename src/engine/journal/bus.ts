import { sql } from 'kysely'
import type { Log } from '../../base/log.ts'
import type { Database } from '../../store/database.ts'

/** What the parts of an engine tell each other, inside this process at once and to other processes by a coalesced NOTIFY. Hints only: nothing depends on their arrival. */
export interface Topics {
  /** Something may be admitted: a slot came free, say. */
  admission: undefined
  /** A task was queued, which changes nothing while all slots are taken. */
  queued: undefined
  /** A task was parked, and may be the next to wake. */
  parked: undefined
  /** A run was admitted and waits for a worker. */
  dispatch: undefined
  /** A running task was asked to stop. */
  cancel: string
  /** All agents are to be stopped, also those that wait for a next turn. */
  halt: undefined
  /** A question was answered; a run may wait for it. */
  answered: string
  /** A question was asked, and may be the next to be due. */
  asked: undefined
  /** A schedule was made or changed, and may be the next to be due. */
  schedules: undefined
  /** Somebody outside is to be told something. */
  outbox: undefined
  /** A browser wants to be told, or does not any more. */
  push: undefined
  /** A task has new events that another process stored. */
  events: string
}
export type Topic = keyof Topics

export interface Bus {
  on<T extends Topic>(topic: T, listener: (value: Topics[T]) => void): () => void
  /** Tells this process now and the others soon. */
  tell<T extends Topic>(topic: T, ...value: Topics[T] extends undefined ? [] : [Topics[T]]): void
  /** Tells only the others: this process knows already. */
  tellOthers(topic: 'events', task: string): void
  start(): Promise<void>
  stop(): Promise<void>
}

const channel = 'pawl'
/** At most twenty notifications a second: each one costs the server a global lock. */
const minGapMs = 50
const maxPayloadBytes = 7_000

export function createBus(options: { database: Database; log: Log; self: string }): Bus {
  const { database, log, self } = options
  const listeners = new Map<Topic, Set<(value: never) => void>>()
  const outgoing = {
    admission: false,
    dispatch: false,
    halt: false,
    outbox: false,
    push: false,
    cancel: new Set<string>(),
    answered: new Set<string>(),
    events: new Set<string>(),
  }
  let timer: NodeJS.Timeout | undefined
  let stopped = false

  const deliver = (topic: Topic, value: string | undefined) => {
    for (const listener of listeners.get(topic) ?? []) (listener as (value: string | undefined) => void)(value)
  }

  const send = async () => {
    timer = undefined
    const message = {
      from: self,
      admission: outgoing.admission,
      dispatch: outgoing.dispatch,
      halt: outgoing.halt,
      outbox: outgoing.outbox,
      push: outgoing.push,
      cancel: [...outgoing.cancel],
      answered: [...outgoing.answered],
      events: [...outgoing.events],
    }
    outgoing.admission = outgoing.dispatch = outgoing.halt = outgoing.outbox = outgoing.push = false
    outgoing.cancel.clear()
    outgoing.answered.clear()
    outgoing.events.clear()
    let payload = JSON.stringify(message)
    // Too much to name: an empty text means "look everywhere", as after a lost connection.
    if (payload.length > maxPayloadBytes) payload = ''
    try {
      await sql`select pg_notify(${channel}, ${payload})`.execute(database.db)
    } catch (error) {
      log.debug('a notification was not sent', { error: String(error) })
    }
  }
  const soon = () => {
    if (!stopped) timer ??= setTimeout(() => void send(), minGapMs)
  }

  const receive = (payload: string) => {
    const message = payload === '' ? undefined : readMessage(payload)
    if (!message) {
      for (const topic of ['admission', 'dispatch', 'halt', 'outbox', 'push', 'asked', 'schedules'] as const)
        deliver(topic, undefined)
      deliver('cancel', '*')
      deliver('answered', '*')
      deliver('events', '*')
      return
    }
    if (message.from === self) return
    if (message.admission) deliver('admission', undefined)
    if (message.dispatch) deliver('dispatch', undefined)
    if (message.halt) deliver('halt', undefined)
    if (message.outbox) deliver('outbox', undefined)
    if (message.push) deliver('push', undefined)
    for (const task of message.cancel) deliver('cancel', task)
    for (const question of message.answered ?? []) deliver('answered', question)
    for (const task of message.events) deliver('events', task)
  }

  return {
    on(topic, listener) {
      const set = listeners.get(topic) ?? new Set()
      listeners.set(topic, set.add(listener as (value: never) => void))
      return () => void set.delete(listener as (value: never) => void)
    },
    tell(topic, ...values) {
      const value = values[0] as string | undefined
      // Others cannot know what we know of the slots: they look.
      if (topic === 'admission' || topic === 'queued' || topic === 'parked') outgoing.admission = true
      else if (topic === 'dispatch') outgoing.dispatch = true
      else if (topic === 'halt') outgoing.halt = true
      else if (topic === 'outbox') outgoing.outbox = true
      else if (topic === 'push') outgoing.push = true
      // Whoever else looks after deadlines and schedules sees it in time.
      else if (topic === 'asked' || topic === 'schedules') return deliver(topic, undefined)
      else outgoing[topic as 'cancel' | 'answered' | 'events'].add(value!)
      soon()
      deliver(topic, value)
    },
    tellOthers(topic, task) {
      outgoing[topic].add(task)
      soon()
    },
    start: () => database.listen(channel, receive),
    async stop() {
      stopped = true
      if (timer === undefined) return
      clearTimeout(timer)
      // Others may wait for just what we did last.
      await send()
    },
  }
}

interface Message {
  readonly from: string
  readonly admission: boolean
  readonly dispatch: boolean
  readonly halt?: boolean
  readonly outbox?: boolean
  readonly push?: boolean
  readonly cancel: readonly string[]
  readonly answered?: readonly string[]
  readonly events: readonly string[]
}

/** Anybody who may connect may notify, a newer program of ours included: what we cannot read only says that something happened. */
function readMessage(payload: string): Message | undefined {
  try {
    const message = JSON.parse(payload) as Partial<Message> | null
    const areNames = (names: unknown) => Array.isArray(names) && names.every((name) => typeof name === 'string')
    if (
      typeof message?.from === 'string' &&
      areNames(message.cancel) &&
      areNames(message.events) &&
      areNames(message.answered ?? [])
    )
      return message as Message
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  return undefined
}
