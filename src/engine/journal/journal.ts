import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import type { Event, NewEvent } from '../../domain/event/event.ts'
import type { Notifiable } from '../../domain/notification/notification.ts'
import { atOnce, type Statements } from '../../store/at-once.ts'
import { type Db, inTransaction, isPassing, isStorageBroken, type Tx } from '../../store/database.ts'
import { appendEvents, type Entry, readEvents } from '../../store/events.ts'
import type { Bus } from './bus.ts'
import { createHub, pageSize } from './hub.ts'

/**
 * The one writer of events in this process. What it shows is stored; what agents say is gathered for a few milliseconds and stored together, what moves a
 * task is stored with the move.
 */
export interface Journal {
  /** Takes an event of a run. Resolves at once while that run has room, else when the writer has caught up: whoever awaits it reads no faster than we store. */
  append(entry: Entry): Promise<void> | undefined
  /** Resolves when everything appended before is stored, or was refused because its run is over. */
  flush(): Promise<void>
  /** Takes back what a run said last and is not stored yet, for whoever stores it together with the run's end. Nothing said before it is unstored when this resolves. */
  withdraw(run: string): Promise<Entry[]>
  /**
   * One transaction: what `work` writes and the events it records commit together, or not at all, and are shown afterwards.
   * `name` is the failpoint before and after the commit. `work` is done again if other transactions were in the way of this one.
   */
  transact<T>(name: string, work: (tx: Tx, record: (entry: Recorded) => void) => Promise<T>): Promise<T>
  /**
   * The same for one statement and the event that tells of it, in one trip. The statement must hold to the fence of the event: of a run that is over neither is stored. It is sent
   * before anybody knows that, so the event is none that others are told of alongside.
   */
  transactAtOnce<T>(name: string, entry: FencedEntry, statement: (one: Statements) => Promise<T>): Promise<T>
  /** Says that events were stored by other means than these. */
  announce(task: string): void
  read(task: string, options: { after: number; limit: number }): Promise<Event[]>
  /** `attends`: a person follows who can answer. */
  follow(task: string, options: { after: number; signal: AbortSignal; attends?: boolean | undefined }): AsyncIterable<Event[]>
  /** Who follows a task in this process, and how many of them are people who can answer. */
  readersOf(task: string): { readonly followers: number; readonly attending: number }
  /** Tells whenever events of any task may have been stored, here or elsewhere. */
  onStored(listener: () => void): () => void
  stop(): Promise<void>
}

/** An entry that has no time of its own is of now. */
export type Recorded = Omit<Entry, 'at'> & { readonly at?: Date }
export type FencedEntry = Recorded & { readonly fence: number; readonly event: Exclude<NewEvent, { type: Notifiable }> }

const lingerMs = 15
const maxBacklogBytes = 4 * 1024 * 1024
/** What one run may have waiting: a batch takes the longer the more is in it, and what others say is in the same one. */
const maxBytesOfRun = 256 * 1024

export function createJournal(options: {
  db: Db
  bus: Bus
  clock: Clock
  log: Log
  /** Takes secrets out of what an event says, before anything else is done with it. */
  redact?: <T>(data: T) => T
  /** Writes what others are to be told of these events, in the transaction that stores them. What it answers is called after the commit. */
  alongside?: ((tx: Tx, entries: readonly Entry[]) => Promise<(() => void) | undefined>) | undefined
  /** Hears of all that this process has stored, after it is. */
  onPublished?: ((events: readonly Event[]) => void) | undefined
  onBroken: (error: unknown) => void
}): Journal {
  const { db, bus, clock, log, onBroken, redact, alongside } = options
  const redacted = (entry: Entry): Entry => {
    if (!redact) return entry
    const event = redact(entry.event)
    return event === entry.event ? entry : { ...entry, event }
  }

  let waiting: Entry[] = []
  let waitingBytes = 0
  let waitingOf = new Map<string, number>()
  let writing: Promise<void> | undefined
  /** What is being written now, and when that is done. */
  let underWay: { readonly batch: readonly Entry[]; readonly done: Promise<void> } | undefined
  let room: PromiseWithResolvers<void> | undefined
  // Pacing of our own work, not a fact about time: real timers, whatever clock the rest goes by.
  let linger: NodeJS.Timeout | undefined

  const write = async (batch: readonly Entry[]): Promise<void> => {
    for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 2_000)) {
      try {
        await fp('event.batch.before')
        const stored = await appendEvents(db, batch, { onTold: () => bus.tell('outbox') })
        await fp('event.batch.after')
        publish(stored.map((item) => item.event))
        if (stored.length < batch.length)
          log.info('late events of a run that is over were dropped', {
            count: batch.length - stored.length,
            reason: 'late_events',
          })
        return
      } catch (error) {
        if (isStorageBroken(error)) onBroken(error)
        if (!isPassing(error)) return writeApart(batch, error)
        log.warn('the journal waits for the database', { error: String(error) })
        await new Promise((done) => setTimeout(done, delayMs))
      }
    }
  }

  /** Something in the batch cannot be stored. All the rest can: halves are tried until the one event is alone, and a note takes its place. */
  const writeApart = async (batch: readonly Entry[], error: unknown): Promise<void> => {
    const [only] = batch
    if (batch.length > 1) {
      const half = Math.ceil(batch.length / 2)
      await write(batch.slice(0, half))
      await write(batch.slice(half))
    } else if (only && only.event.type !== 'run.noted') {
      log.error('an event could not be stored', {
        task: only.task,
        run: only.run,
        type: only.event.type,
        error: messageOf(error),
      })
      const detail = `An event (${only.event.type}) could not be stored: ${messageOf(error)}.`
      await write([{ ...only, event: { type: 'run.noted', data: { code: 'event_lost', detail } } }])
    } else throw error
  }

  const startWriting = () => {
    clearTimeout(linger)
    linger = undefined
    // What was waiting may have been withdrawn meanwhile.
    if (!writing && waiting.length > 0) writing = writeWaiting()
    return writing
  }
  const writeWaiting = async (): Promise<void> => {
    while (waiting.length > 0) {
      const batch = waiting
      waiting = []
      waitingBytes = 0
      waitingOf = new Map()
      const done = write(batch).catch((error: unknown) =>
        log.error('events could not be stored', { error: String(error), count: batch.length }),
      )
      underWay = { batch, done }
      await done
      underWay = undefined
      room?.resolve()
      room = undefined
    }
    writing = undefined
  }

  const hub = createHub((task, after) => readEvents(db, task, { after, limit: pageSize }))
  const publish = (events: readonly Event[]) => {
    const byTask = Map.groupBy(events, (event) => event.task)
    for (const [task, batch] of byTask) {
      hub.publish(task, batch)
      bus.tellOthers('events', task)
    }
    options.onPublished?.(events)
    stored()
  }
  const listeners = new Set<() => void>()
  const stored = () => {
    for (const listener of listeners) listener()
  }
  const unsubscribe = bus.on('events', (task) => {
    hub.refresh(task)
    stored()
  })

  /** `ready` is called when all is recorded; what it answers stores that, and commits. */
  const transact = async <T>(
    name: string,
    work: (tx: Tx, record: (entry: Recorded) => void, ready: () => Promise<(to: Statements) => Promise<void>>) => Promise<T>,
  ): Promise<T> => {
    const at = new Date(clock.now())
    let events: Event[] = []
    let committed: (() => void) | undefined
    let isTold = false
    try {
      const result = await inTransaction(db, async (tx) => {
        const entries: Entry[] = []
        const record = (entry: Recorded) => void entries.push(redacted({ at, ...entry }))
        const store = async (to: Statements) => {
          const stored = await appendEvents(to, entries, { isLast: true, onTold: () => (isTold = true) })
          events = stored.map((item) => item.event)
        }
        return work(tx, record, async () => {
          committed = await alongside?.(tx, entries)
          await fp(`${name}.before`)
          return store
        })
      })
      await fp(`${name}.after`)
      publish(events)
      committed?.()
      if (isTold && !committed) bus.tell('outbox')
      return result
    } catch (error) {
      if (isStorageBroken(error)) onBroken(error)
      throw error
    }
  }

  return {
    append(entry) {
      const clean = redacted(entry)
      const bytes = sizeOf(clean)
      const { run = '' } = clean
      const ofRun = (waitingOf.get(run) ?? 0) + bytes
      waiting.push(clean)
      waitingBytes += bytes
      waitingOf.set(run, ofRun)
      if (!writing) linger ??= setTimeout(startWriting, lingerMs)
      if (ofRun < maxBytesOfRun && waitingBytes < maxBacklogBytes) return undefined
      startWriting()
      room ??= Promise.withResolvers()
      return room.promise
    },
    async flush() {
      while (waiting.length > 0 || writing) await startWriting()
    },
    async withdraw(run) {
      const isOf = (entry: Entry) => entry.run === run
      while (underWay?.batch.some(isOf)) await underWay.done
      const own = waiting.filter(isOf)
      waiting = waiting.filter((entry) => !isOf(entry))
      for (const entry of own) waitingBytes -= sizeOf(entry)
      waitingOf.delete(run)
      return own
    },
    transact: (name, work) =>
      transact(name, async (tx, record, ready) => {
        const value = await work(tx, record)
        const store = await ready()
        await store(tx)
        return value
      }),
    transactAtOnce: (name, entry, statement) =>
      transact(name, async (tx, record, ready) => {
        record(entry)
        const store = await ready()
        const [value] = await atOnce(tx, (one) => [statement(one), store(one)])
        return value
      }),
    announce(task) {
      hub.refresh(task)
      bus.tellOthers('events', task)
      stored()
    },
    read: (task, page) => readEvents(db, task, page),
    follow: (task, { after, signal, attends }) => hub.follow(task, after, signal, attends),
    readersOf: hub.readersOf,
    onStored(listener) {
      listeners.add(listener)
      return () => void listeners.delete(listener)
    },
    async stop() {
      unsubscribe()
      await this.flush()
    },
  }
}

/** Rough, cheap, and never too small for text: what counts is that a flood is noticed. */
function sizeOf(entry: Entry): number {
  const data = entry.event.data as Record<string, unknown>
  let size = 200
  for (const value of Object.values(data)) size += typeof value === 'string' ? value.length : 100
  return size
}
