import { once } from 'node:events'
import { createWriteStream, readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import { Readable } from 'node:stream'
import { systemClock } from '../src/clock.ts'
import type { NewEvent } from '../src/domain/event.ts'
import { createRedactor, type Redactor } from '../src/domain/redact/redactor.ts'
import { createJournal } from '../src/engine/journal.ts'
import { silentLog } from '../src/log.ts'
import { makeParts } from '../test/engine/store.ts'
import { type Benchmark, type Figure, interleave, median } from './figure.ts'
import { inPlace, type Place } from './place.ts'
import { printed, type Reader, readAppServer, readClaude, recordings } from './translate.ts'

const bytesWanted = 6e6
const chunkBytes = 65_536
const warmUps = 2
const rounds = 11
const most = 0.05

export const benchmark: Benchmark = {
  about: 'redaction in the CPU time of a stream: from the bytes that were recorded to the raw log and the stored events',
  measure: () =>
    inPlace(async (place) => [
      await compare(place, 'redaction of Claude Code, share of CPU', recordings('claude-code', ''), readClaude),
      await compare(
        place,
        'redaction of Codex app-server, share of CPU',
        recordings('codex', 'app-server-').map(printed),
        readAppServer,
      ),
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

async function compare(place: Place, name: string, texts: readonly string[], read: Reader): Promise<Figure> {
  const recorded = texts.join('')
  const bytes = Buffer.from(recorded.repeat(Math.ceil(bytesWanted / Buffer.byteLength(recorded))))
  const chunks: Buffer[] = []
  for (let at = 0; at < bytes.length; at += chunkBytes) chunks.push(bytes.subarray(at, at + chunkBytes))
  const parts = await makeParts((end) => place.onEnd(end))
  const { db, bus } = parts
  const worker = await parts.addWorker()
  const redactor = redactorOfRun()

  const events: NewEvent[] = []
  const databaseSpent: number[] = []
  /** The whole way without redaction: our own process, which counts, and the bundled database beside it. */
  const carry = async () => {
    const task = await parts.addTask()
    const run = await parts.admit(task, 1, worker)
    await parts.lease(run, worker)
    const log = createWriteStream(join(place.folder, 'stdout.log'))
    const journal = createJournal({ db, bus, clock: systemClock, log: silentLog, onBroken: () => undefined })
    events.length = 0
    const databaseBefore = databaseMs(parts.store.serverPid)
    const spent = await cpuMs(async () => {
      const source = Readable.from(chunks, { objectMode: false })
      source.on('data', (chunk: Buffer) => log.write(chunk))
      await read(source, (event) => {
        const runNo = events.push(event)
        return journal.append({ task: task.id, run: run.id, runNo, fence: 1, at: new Date(), event })
      })
      await journal.flush()
      log.end()
      await once(log, 'close')
    })
    await journal.stop()
    databaseSpent.push(databaseMs(parts.store.serverPid) - databaseBefore)
    return spent
  }
  /** What redaction does on that way: once with the bytes, once with the events. */
  const redact = async () =>
    cpuMs(async () => {
      const stream = redactor.stream()
      for (const chunk of chunks) stream.write(chunk)
      stream.end()
      for (const event of events) redactor.value(event)
    })
  await interleave(warmUps, carry, redact)
  const { ours: whole, peer: own } = await interleave(rounds, carry, redact)
  if (events.length < 100) throw new Error(`${name}: only ${events.length} events came.`)
  const share = median(own) / (median(own) + median(whole))
  return {
    name,
    ours: `${(share * 100).toFixed(1)} %`,
    peer: `${median(own).toFixed(1)} ms beside ${median(whole).toFixed(0)} ms, and ${median(databaseSpent).toFixed(0)} ms in the database`,
    target: '≤ 5 %',
    isMet: share <= most,
  }
}

/** The CPU time of a database server and of every process of it, those that have ended included. */
function databaseMs(server: number | undefined): number {
  if (server === undefined) throw new Error('The bundled database is expected to run here.')
  let ticks = 0
  for (const name of readdirSync('/proc').filter((entry) => /^\d+$/.test(entry))) {
    const fields = statOf(name)
    if (fields && Number(fields[1]) === server) ticks += Number(fields[11]) + Number(fields[12])
    if (fields && Number(name) === server) ticks += fields.slice(11, 15).reduce((sum, field) => sum + Number(field), 0)
  }
  return ticks * 10
}

/** From the state on: the name before it may hold anything. */
function statOf(pid: string): string[] | undefined {
  try {
    return readFileSync(`/proc/${pid}/stat`, 'utf8')
      .replace(/^.*\) /s, '')
      .split(' ')
  } catch {
    // It has ended meanwhile.
    return undefined
  }
}

/** CPU time alone: what else the machine does is nobody's cost. */
async function cpuMs(work: () => Promise<void>): Promise<number> {
  const before = process.cpuUsage()
  await work()
  const { user, system } = process.cpuUsage(before)
  return (user + system) / 1000
}
