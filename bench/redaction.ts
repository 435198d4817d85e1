import { once } from 'node:events'
import { createWriteStream } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { sql } from 'kysely'
import { systemClock } from '../src/base/clock.ts'
import { silentLog } from '../src/base/log.ts'
import type { NewEvent } from '../src/domain/event/event.ts'
import { createJournal } from '../src/engine/journal/journal.ts'
import { createRedactor, type Redactor } from '../src/redact/redactor.ts'
import type { Db } from '../src/store/database.ts'
import { makeParts } from '../test/engine/store.ts'
import { type Benchmark, type Figure, interleave, median } from './figure.ts'
import { inPlace, type Place } from './place.ts'
import { printed, type Reader, readAppServer, readClaude, recordings } from './translate.ts'

const bytesWanted = 6e6
const chunkBytes = 65_536
const warmUps = 3
const rounds = 15
const most = 0.05

export const benchmark: Benchmark = {
  about:
    'the share of redaction in the CPU time of a stream that goes to the raw log and, as events, to the journal; the database is a part of Pawl, so its time counts',
  measure: () =>
    inPlace(async (place) => [
      ...(await compare(place, 'Claude Code', recordings('claude-code', ''), readClaude)),
      ...(await compare(place, 'Codex app-server', recordings('codex', 'app-server-').map(printed), readAppServer)),
    ]),
}

/** As a run has them: a few tokens, passwords, a key of many lines. None is in the recordings, as none is in nearly all that agents say. */
function redactorOfRun(): Redactor {
  const redactor = createRedactor()
  const random = (index: number) => ((index + 1) * 2_654_435_761) >>> 0
  const long = (length: number, seed: number) =>
    Array.from({ length: Math.ceil(length / 4) }, (_, index) =>
      random(index + seed)
        .toString(36)
        .slice(-4),
    ).join('')
  const lines = Array.from({ length: 25 }, (_, line) => long(64, line * 100)).join('\n')
  const values = [
    long(43, 1),
    long(32, 2),
    long(12, 3),
    long(120, 4),
    long(40, 5),
    lines,
    `postgres://pawl:${long(20, 6)}@db/pawl`,
  ]
  for (const [index, value] of values.entries()) redactor.add(`S${index}`, value)
  return redactor
}

/** How long a redactor was at it, call by call. It never waits, so on a machine that does nothing else this is its CPU time, and never less. */
class Watched {
  readonly redactor: Redactor
  #spentMs: number[] = []

  constructor(inner: Redactor) {
    const timed = <Given extends unknown[], Told>(work: (...given: Given) => Told) => {
      return (...given: Given): Told => {
        const startedAt = performance.now()
        const told = work(...given)
        this.#spentMs.push(performance.now() - startedAt)
        return told
      }
    }
    this.redactor = {
      ...inner,
      value: timed(inner.value) as Redactor['value'],
      stream() {
        const stream = inner.stream()
        return { write: timed(stream.write), end: timed(stream.end) }
      },
    }
  }

  /** Since it was asked last. */
  spentMs(): readonly number[] {
    const spent = this.#spentMs
    this.#spentMs = []
    return spent
  }
}

type Store = (event: NewEvent, redactor: Redactor | undefined) => Promise<void> | undefined

async function compare(place: Place, agent: string, texts: readonly string[], read: Reader): Promise<Figure[]> {
  const recorded = texts.join('')
  const bytes = Buffer.from(recorded.repeat(Math.ceil(bytesWanted / Buffer.byteLength(recorded))))
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes))
  const parts = await makeParts((end) => place.onEnd(end))
  const worker = await parts.addWorker()
  const watched = new Watched(redactorOfRun())

  /** From the bytes to the raw log and the events; each event goes to `store`. */
  const carry = async (hiding: Redactor | undefined, store: Store) => {
    const log = createWriteStream(join(place.folder, 'stdout.log'))
    const clean = hiding?.stream()
    function* logged() {
      for (const chunk of chunks) {
        log.cork()
        for (const piece of clean ? clean.write(chunk) : [chunk]) log.write(piece)
        log.uncork()
        yield chunk
      }
    }
    await read(Readable.from(logged(), { objectMode: false }), (event) => store(event, hiding))
    if (clean) log.write(clean.end())
    log.end()
    await once(log, 'close')
  }
  const intoDatabase = async (hiding: Redactor | undefined) => {
    const task = await parts.addTask()
    const run = await parts.admit(task, 1, worker)
    await parts.lease(run, worker)
    const { db, bus } = parts
    const redact = hiding && { redact: hiding.value }
    const journal = createJournal({ db, bus, clock: systemClock, log: silentLog, onBroken: () => undefined, ...redact })
    let runNo = 0
    const before = await databaseCpuMs(db)
    const spent = await cpuMs(async () => {
      await carry(hiding, (event) =>
        journal.append({ task: task.id, run: run.id, runNo: ++runNo, fence: 1, at: new Date(), event }),
      )
      await journal.flush()
    })
    const database = spentSince(before, await databaseCpuMs(db))
    await journal.stop()
    if (runNo < 100) throw new Error(`${agent}: only ${runNo} events came.`)
    return spent + database
  }
  /** As far as the text that would be sent to the database. */
  const intoText = (hiding: Redactor | undefined) =>
    cpuMs(() =>
      carry(hiding, (event, redactor) => {
        JSON.stringify(redactor ? redactor.value(event) : event)
        return undefined
      }),
    )

  return [
    await shareOf(`redaction of ${agent}, into the database`, watched, intoDatabase),
    // Nobody streams to nowhere: told, because it shows a change of the redaction itself best.
    { ...(await shareOf(`redaction of ${agent}, into text alone`, watched, intoText)), target: '', isMet: undefined },
  ]
}

/** Measured where it happens: the difference of two whole streams, with it and without it, is smaller than what two equal streams differ by. */
async function shareOf(name: string, watched: Watched, way: (redactor?: Redactor) => Promise<number>): Promise<Figure> {
  const spent: (readonly number[])[] = []
  const withIt = async () => {
    const whole = await way(watched.redactor)
    spent.push(watched.spentMs())
    return whole
  }
  const without = () => way(undefined)
  await interleave(warmUps, withIt, without)
  spent.length = 0
  const { ours, peer } = await interleave(rounds, withIt, without)
  const redactionMs = usual(spent)
  const share = redactionMs / median(ours)
  return {
    name,
    ours: `${(share * 100).toFixed(1)} %`,
    peer: `${redactionMs.toFixed(1)} of ${median(ours).toFixed(1)} ms; ${median(peer).toFixed(1)} ms without it`,
    target: '≤ 5 %',
    isMet: share <= most,
  }
}

/** Every round calls the same in the same order. So a call during which somebody else had the processor is seen by its like in the other rounds, and does not count. */
function usual(rounds: readonly (readonly number[])[]): number {
  const calls = Math.max(...rounds.map(({ length }) => length))
  let sum = 0
  for (let call = 0; call < calls; call++) sum += median(rounds.map((spent) => spent[call] ?? 0))
  return sum
}

/** Each of its processes, as the kernel counts them; those that write what others stored included. */
async function databaseCpuMs(db: Db): Promise<ReadonlyMap<number, number>> {
  const { rows } = await sql<{ pid: number }>`select pid from pg_stat_activity`.execute(db)
  const spent = async (pid: number) => Number((await readFile(`/proc/${pid}/schedstat`, 'utf8').catch(() => '0')).split(' ')[0])
  return new Map(await Promise.all(rows.map(async ({ pid }): Promise<[number, number]> => [pid, (await spent(pid)) / 1e6])))
}

/** A connection that was closed meanwhile takes nothing back of what the others spent. */
const spentSince = (before: ReadonlyMap<number, number>, after: ReadonlyMap<number, number>) =>
  [...after].reduce((sum, [pid, spent]) => sum + Math.max(0, spent - (before.get(pid) ?? 0)), 0)

/** CPU time alone: what else the machine does is nobody's cost. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
