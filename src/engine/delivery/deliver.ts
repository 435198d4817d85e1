import type { Clock } from '../../base/clock.ts'
import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { messageOf as sentenceOf } from '../../domain/error.ts'
import type { Notification } from '../../domain/notification/notification.ts'
import { type Db, isPassing } from '../../store/database.ts'
import {
  claimOutbox,
  forgetOrphans,
  forgetSent,
  type Line,
  releaseOutbox,
  releaseStrays,
  settleOutbox,
  type Tried,
} from '../../store/outbox.ts'
import { removePush } from '../../store/push.ts'
import type { OutboxRow } from '../../store/tables.ts'
import type { Bus } from '../journal/bus.ts'
import type { Journal } from '../journal/journal.ts'
import { backoffMs, longestBackoffMs } from './backoff.ts'
import type { ListenerSender } from './listeners/send.ts'
import { messageOf } from './message.ts'
import type { RecallSender } from './recall.ts'
import type { Sender, Sent } from './sender.ts'

/**
 * Sends what is in the outbox, at least once each: a row is claimed, sent, and then marked, and what a dead process had claimed is sent again under the same id. Of
 * one task a target hears in order. Only targets that this process knows are served; those of others wait for them.
 */
export interface Delivery {
  start(): Promise<void>
  /** Waits for what is being sent. */
  stop(): Promise<void>
}

const lookEveryMs = 5_000
const atOnce = 4
/** They are many, and one that is slow must not hold up the others. */
const atOnceToListeners = 16
/** Stands for all of them; which one, each row says itself. Its name is none that settings can have. */
const listenersTarget: Notification = { name: 'listeners of tasks', events: [], attempts: 12, way: { kind: 'a2a' } }
const keptMs = 7 * 86_400_000
const forgetEveryMs = 3_600_000
const databaseAgainMs = 500
const drainMs = 10_000

export function createDelivery(options: {
  db: Db
  journal: Journal
  bus: Bus
  clock: Clock
  log: Log
  worker: string
  /** Those that this process can send to, as of now. */
  targets: () => readonly Notification[]
  sender: Sender
  /** Sends what the listeners of single tasks are to be told; without it that waits for others. */
  listeners?: ListenerSender | undefined
  /** Ends what agents elsewhere still do for tasks that have ended. */
  recalls?: RecallSender | undefined
  /** One that leaves after its own task tells of it before it goes. */
  lastRound: boolean
  chance?: () => number
}): Delivery {
  const { db, journal, bus, clock, log, sender, listeners, recalls, chance = Math.random } = options
  const targets = (): readonly Notification[] => [...options.targets(), ...(listeners ? [listenersTarget] : [])]
  let stopped = true
  let unhear = () => {}
  const leaving = new AbortController()
  const cancels = new Set<() => void>()
  const underWay = new Map<string, Map<string, Promise<void>>>()
  const sendingTo = ({ name }: Notification) => underWay.get(name) ?? underWay.set(name, new Map()).get(name)!
  /** Targets of which we may have claimed what we do not send: nobody else may touch that while we live. */
  const mayHoldStrays = new Set<string>()
  /** Then rounds of a target may meet, and one cannot tell what the other has claimed from what nobody sends. */
  let isDraining = false
  /** Rounds of a target go one after another. */
  const rounds = new Map<string, { running: Promise<void>; again: boolean }>()
  let forgotAt = Number.NEGATIVE_INFINITY

  const later = (ms: number, fn: () => void) => {
    const cancel = clock.after(ms, () => {
      cancels.delete(cancel)
      if (!stopped) fn()
    })
    cancels.add(cancel)
  }

  const deliver = async (target: Notification, row: OutboxRow): Promise<void> => {
    await fp('outbox.send')
    const own = { a2a: listeners, recall: recalls }[target.way.kind as string]
    const sent = own
      ? await own.send(row, leaving.signal)
      : await sender.send(target, messageOf(row), leaving.signal, row.body.traced)
    const tried = judge(target, row, sent)
    if (tried.state === 'dead')
      log.error('a notification was given up', {
        target: target.name,
        notification: row.id,
        task: row.task_id,
        error: tried.error,
      })
    await settle(target, row, sent, tried)
    if (sent.isGone) bus.tell('push')
    if (tried.state === 'pending') later(Math.max(0, tried.nextAt.getTime() - clock.now()), () => look(target))
  }

  const judge = (target: Notification, row: OutboxRow, sent: Sent): Tried => {
    if (sent.delivered) return { state: 'sent', at: new Date(clock.now()) }
    const error = sent.detail.slice(0, 500)
    if (sent.isGone) return { state: 'dead', error }
    if (leaving.signal.aborted) return { state: 'pending', nextAt: new Date(clock.now()), error, isFree: true }
    if (row.attempts >= target.attempts) return { state: 'dead', error }
    const waitMs = Math.min(Math.max(backoffMs(row.attempts, chance()), sent.retryAfterMs ?? 0), longestBackoffMs)
    return { state: 'pending', nextAt: new Date(clock.now() + waitMs), error }
  }

  const noteOf = ({ way }: Notification, row: OutboxRow, sent: Sent, tried: Tried): string | undefined =>
    way.kind === 'recall' && tried.state === 'dead'
      ? `Given up after ${row.attempts} tries; end it there yourself, or have it tried again with: pawl notifications retry ${row.id}. ${tried.error}`
      : sent.note

  /** Until the database has it: else it would be sent again, and again. */
  const settle = async (target: Notification, row: OutboxRow, sent: Sent, tried: Tried): Promise<void> => {
    const isCutShort = tried.state === 'pending' && tried.isFree === true
    for (let ran = isCutShort ? undefined : sent.ran; ; ) {
      try {
        await journal.transact('outbox.settle', async (tx, record) => {
          if (!(await settleOutbox(tx, row.id, options.worker, tried))) return
          if (sent.isGone && target.way.kind === 'push') await removePush(tx, target.way.subscription)
          const note = noteOf(target, row, sent, tried)
          if (note !== undefined)
            record({
              task: row.task_id,
              run: row.run_id ?? undefined,
              event: { type: 'run.noted', data: { code: 'recall', detail: note } },
            })
          if (!ran) return
          const data = { notification: row.id, name: target.name, event: row.event, attempt: row.attempts, ...ran }
          const failure = sent.delivered ? {} : { failure: sent.detail }
          record({ task: row.task_id, event: { type: 'hook.ran', data: { ...data, ...failure } } })
        })
        return
      } catch (error) {
        log.warn('the outcome of a notification waits for the database', { notification: row.id, error: sentenceOf(error) })
        // Whoever comes next finds the row claimed by a worker that is gone.
        if (stopped) return
        // What cannot be stored at all is the event; that it was sent matters more.
        if (!isPassing(error)) ran = undefined
        await new Promise((again) => setTimeout(again, databaseAgainMs))
      }
    }
  }

  /** Undefined while nobody listens whom this home could tell. */
  const lineOf = async ({ name, way }: Notification): Promise<Line | undefined> => {
    if (way.kind !== 'a2a') return { target: name }
    const senderKey = await listeners?.senderKey()
    return senderKey === undefined ? undefined : { senderKey }
  }

  /** Claims as much as there are places for, and has it sent. Answers how many. */
  const round = async (target: Notification): Promise<number> => {
    const sending = sendingTo(target)
    const line = await lineOf(target)
    const limit = (target.way.kind === 'a2a' ? atOnceToListeners : atOnce) - sending.size
    if (limit <= 0 || !line) return 0
    const now = new Date(clock.now())
    const latest = new Date(clock.now() + longestBackoffMs)
    if (mayHoldStrays.has(target.name) && !isDraining) {
      await releaseStrays(db, line, { worker: options.worker, sending: [...sending.keys()], now })
      mayHoldStrays.delete(target.name)
    }
    const rows = await claimOutbox(db, line, { worker: options.worker, now, latest, limit }).catch((error: unknown) => {
      // The answer may be what was lost, and not the claim.
      mayHoldStrays.add(target.name)
      throw error
    })
    for (const row of rows) {
      const work = deliver(target, row)
        .catch((error: unknown) => {
          mayHoldStrays.add(target.name)
          log.error('a notification was not sent', { notification: row.id, error: sentenceOf(error) })
        })
        .finally(() => {
          sending.delete(row.id)
          // The next of its task may go now.
          if (!stopped) look(target)
        })
      sending.set(row.id, work)
    }
    return rows.length
  }

  const look = (target: Notification): void => {
    const current = rounds.get(target.name)
    if (current) {
      current.again = true
      return
    }
    const mine = { again: false, running: Promise.resolve() }
    rounds.set(target.name, mine)
    mine.running = (async () => {
      try {
        do {
          mine.again = false
          await round(target)
        } while (mine.again && !stopped)
      } finally {
        // In the same moment in which nothing more was wanted: whoever comes a moment later begins anew.
        rounds.delete(target.name)
      }
    })().catch((error: unknown) => log.debug('the outbox will be looked at again', { error: sentenceOf(error) }))
  }
  const lookAll = () => {
    for (const target of targets()) look(target)
  }

  const tick = () => {
    const now = clock.now()
    const tidy = async () => {
      const released = await releaseOutbox(db, new Date(now))
      if (released > 0) log.info('notifications that a lost worker was sending are sent again', { count: released })
      if (clock.monotonic() - forgotAt < forgetEveryMs) return
      forgotAt = clock.monotonic()
      await forgetSent(db, new Date(now - keptMs))
      await forgetOrphans(db)
    }
    void tidy()
      .catch((error: unknown) => log.debug('the outbox will be tidied again', { error: sentenceOf(error) }))
      .finally(() => {
        if (stopped) return
        lookAll()
        later(lookEveryMs, tick)
      })
  }

  return {
    async start() {
      if (!stopped) return
      stopped = false
      for (const sentence of await sender.learnSecrets(targets()))
        log.warn('a notification cannot be signed', { detail: sentence })
      unhear = bus.on('outbox', lookAll)
      tick()
    },
    async stop() {
      if (stopped) return
      unhear()
      if (options.lastRound) await drain()
      stopped = true
      // What is cut short here costs no try: whoever comes next sends it.
      leaving.abort()
      for (const cancel of cancels) cancel()
      cancels.clear()
      await Promise.all([...rounds.values()].map(({ running }) => running))
      await Promise.all([...underWay.values()].flatMap((works) => [...works.values()]))
    },
  }

  /** What is due, each once, for a while: what fails and what is left is for whoever comes next. */
  async function drain(): Promise<void> {
    isDraining = true
    await Promise.all([...rounds.values()].map(({ running }) => running))
    const until = clock.monotonic() + drainMs
    for (const target of targets()) {
      const sending = sendingTo(target)
      try {
        while ((clock.monotonic() < until && (await round(target)) > 0) || sending.size > 0) await Promise.all(sending.values())
      } catch (error) {
        log.warn('notifications wait for the next Pawl of this home', { target: target.name, error: sentenceOf(error) })
      }
    }
  }
}
