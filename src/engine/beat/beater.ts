import { Worker } from 'node:worker_threads'
import type pg from 'pg'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { programFile } from '../../bounded/thread.ts'
import type { Db } from '../../store/database.ts'
import { beat, type Held } from '../../store/workers.ts'
import { type Answered, type Asked, confirmedAt, type ThreadData, tickAt } from './messages.ts'

/** Counts the beats by which others see that this process holds its runs. */
export interface Beater {
  /** Counts one beat of a worker, which has runs or not, and says what it holds. Undefined: others have declared it dead. Rejects if the database does not confirm it. */
  beat(worker: string, hasRuns: boolean): Promise<Held | undefined>
  /** The worker has runs: from now on beats need not wait for this thread. */
  goAlone(worker: string): void
  /** How long ago the last confirmed beat was sent, by whomever. `Infinity` if that is not known here. */
  confirmedAgoMs(): number
  close(): Promise<void>
}

/** Beats on this thread only: for a clock that a test moves by hand, which no other thread could go by. */
export const createOwnBeater = (db: Db, clock: Clock): Beater => ({
  beat: (worker) => beat(db, worker, new Date(clock.now())),
  goAlone: () => undefined,
  confirmedAgoMs: () => Number.POSITIVE_INFINITY,
  close: async () => undefined,
})

const tickEveryMs = 1_000
const closeWithinMs = 1_000
/** A worker without runs has nothing to lose, and a daemon that waits needs no second thread, which takes 18 MB. */
const idleMs = 30_000

/**
 * Beats on a thread with a database connection of its own, so that neither work on this thread nor statements of ours that wait for a connection keep a beat from being
 * counted. Asked every few seconds; when it is not asked in time it goes on alone for a while (thread-program.ts). There is a thread only while the worker has runs.
 */
export function createThreadBeater(options: {
  db: Db
  clock: Clock
  connection: pg.ClientConfig
  endsHung: boolean
  log: Log
}): Beater {
  const { db, clock, connection, endsHung, log } = options
  const times = new BigInt64Array(new SharedArrayBuffer(2 * BigInt64Array.BYTES_PER_ELEMENT))
  const waiting = new Map<number, PromiseWithResolvers<Held | undefined>>()
  let asked = 0
  let thread: Worker | undefined
  let ticking: NodeJS.Timeout | undefined
  let hadRunsAt = Number.NEGATIVE_INFINITY

  const tick = () => void Atomics.store(times, tickAt, process.hrtime.bigint())
  const start = (): Worker => {
    tick()
    ticking ??= setInterval(tick, tickEveryMs).unref()
    const data: ThreadData = { connection, times, endsHung }
    const started = new Worker(programFile({ folder: 'beat', from: import.meta.url }), {
      workerData: data,
      execArgv: [],
      resourceLimits: { maxOldGenerationSizeMb: 32, maxYoungGenerationSizeMb: 2 },
    })
    started.unref()
    started.on('message', (answer: Answered) => {
      const one = waiting.get(answer.ask)
      waiting.delete(answer.ask)
      if ('error' in answer) one?.reject(new Error(answer.error))
      else one?.resolve(answer.held)
    })
    started.on('error', (error) => log.error('the thread that beats has failed; another is started', { error: String(error) }))
    started.on('exit', () => {
      if (thread !== started && thread !== undefined) return
      thread = undefined
      for (const one of waiting.values()) one.reject(new Error('the thread that beats has ended'))
      waiting.clear()
    })
    return started
  }

  const post = (asked: Asked) => {
    hadRunsAt = performance.now()
    thread ??= start()
    thread.postMessage(asked)
  }
  const end = async () => {
    clearInterval(ticking)
    ticking = undefined
    const ending = thread
    thread = undefined
    if (!ending) return
    ending.ref()
    const ended = new Promise((done) => ending.once('exit', done))
    ending.postMessage('close' satisfies Asked)
    // It says goodbye to the server, which may not answer.
    const late = setTimeout(() => void ending.terminate(), closeWithinMs)
    await ended
    clearTimeout(late)
  }

  return {
    beat(worker, hasRuns) {
      if (!hasRuns && performance.now() - hadRunsAt > idleMs) {
        void end()
        return beat(db, worker, new Date(clock.now()))
      }
      const one = Promise.withResolvers<Held | undefined>()
      waiting.set(++asked, one)
      if (hasRuns || !thread) post({ ask: asked, worker })
      else thread.postMessage({ ask: asked, worker } satisfies Asked)
      return one.promise
    },
    goAlone: (worker) => post({ worker }),
    confirmedAgoMs() {
      const sentAt = Atomics.load(times, confirmedAt)
      return sentAt === 0n ? Number.POSITIVE_INFINITY : Number(process.hrtime.bigint() - sentAt) / 1e6
    },
    close: end,
  }
}
