import { writeSync } from 'node:fs'
import { isatty } from 'node:tty'
import { parentPort, workerData } from 'node:worker_threads'
import type pg from 'pg'
import { createLog, silentLog } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import { beatStatement } from '../../store/beat-statement.ts'
import { watchConnections } from '../../store/connection-watch.ts'
import type { Held } from '../../store/workers.ts'
import { type Answered, type Asked, confirmedAt, type ThreadData, tickAt } from './messages.ts'

// The main thread asks for each beat, and decides what an answer means. When it does not ask, because it is held up, we beat alone: it still holds its runs. One that is held
// up for longer hangs, and a beat would hide it from those who could do its work.

const { connection, times, endsHung } = workerData as ThreadData
const lookEveryMs = 1_000
/** The main thread asks every 5 s, and more often when something is wrong. */
const aloneAfterMs = 6_000
const beatAloneEveryMs = 4_000
/** So long we beat for a main thread that does not ask, and so long it may stand still. */
const hangsAfterMs = 30_000
/** The time in which we were stopped or asleep ourselves is nobody's silence. */
const mostBetweenLooksMs = 2 * lookEveryMs
/** A lease lasts for 15 s: a connection that went silent must be found while there is time for another. */
const patience = { suspectMs: 2_000, confirmMs: 1_000, mostMs: 10_000, pingMs: 10_000 }

const watch = watchConnections({ connection, log: silentLog, patience })
let client: pg.Client | undefined
let worker: string | undefined
let underWay: Promise<unknown> = Promise.resolve()
let isBeating = false

async function connected(): Promise<pg.Client> {
  if (client) return client
  const next = new watch.Client({ ...connection, connectionTimeoutMillis: 4_000 })
  // What breaks is told to the statement that waits for it; the next beat finds another connection.
  next.on('error', () => undefined)
  next.on('end', () => {
    if (client === next) client = undefined
  })
  await next.connect()
  client = next
  return next
}

async function beatOnce(): Promise<Held | undefined> {
  const sentAt = process.hrtime.bigint()
  const { rows } = await (await connected()).query<Held>(beatStatement, [worker, new Date()])
  if (rows[0]) Atomics.store(times, confirmedAt, sentAt)
  return rows[0]
}

/** One after the other: an answer is about the time after its question, so none is shared. */
function beat(): Promise<Held | undefined> {
  const answer = underWay.then(() => {
    isBeating = true
    return beatOnce().finally(() => {
      isBeating = false
    })
  })
  underWay = answer.catch(() => undefined)
  return answer
}

let unaskedMs = 0
let stillMs = 0
let sinceBeatMs = 0
let lookedAt = performance.now()
let tick = Atomics.load(times, tickAt)

function look(): void {
  const now = performance.now()
  const passedMs = Math.min(now - lookedAt, mostBetweenLooksMs)
  lookedAt = now
  unaskedMs += passedMs
  sinceBeatMs += passedMs
  const last = tick
  tick = Atomics.load(times, tickAt)
  stillMs = tick === last ? stillMs + passedMs : 0
  if (stillMs > hangsAfterMs && endsHung) end()
  if (worker === undefined || isBeating || unaskedMs < aloneAfterMs || unaskedMs > hangsAfterMs) return
  if (sinceBeatMs < beatAloneEveryMs) return
  sinceBeatMs = 0
  beat().catch(() => undefined)
}

/** Not even a signal handler of ours would run. The sandboxes die with us, and others give the tasks back. */
function end(): never {
  const write = (line: string) => void writeSync(2, `${line}\n`)
  const log = createLog({ level: 'error', format: isatty(2) ? 'text' : 'json', now: Date.now, write })
  try {
    log.error('the main thread has not moved for too long; the process ends so that others can do its work', {
      seconds: Math.round(stillMs / 1_000),
      reason: 'main_thread_hung',
    })
  } finally {
    process.kill(process.pid, 'SIGKILL')
  }
  throw new Error('unreachable')
}

const looking = setInterval(look, lookEveryMs)

parentPort!.on('message', async (asked: Asked) => {
  if (asked === 'close') {
    clearInterval(looking)
    parentPort!.close()
    await client?.end().catch(() => undefined)
    watch.close()
    return
  }
  worker = asked.worker
  unaskedMs = sinceBeatMs = 0
  const { ask } = asked
  if (ask === undefined) return
  const answer: Answered = await beat().then(
    (held) => ({ ask, held }),
    (error: unknown) => ({ ask, error: messageOf(error) }),
  )
  parentPort!.postMessage(answer)
})
