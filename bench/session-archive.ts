import { randomBytes } from 'node:crypto'
import { appendFile, mkdir, writeFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { sql } from 'kysely'
import type { SessionFiles } from '../src/agents/port.ts'
import { silentLog } from '../src/base/log.ts'
import { newId } from '../src/domain/id.ts'
import { queueSchemaVersion } from '../src/engine/queue/dispatch.ts'
import { archiveSession } from '../src/engine/session/archive.ts'
import { admitTasks } from '../src/store/admission.ts'
import type { Db } from '../src/store/database.ts'
import { migrateStore } from '../src/store/migrate.ts'
import { openStore } from '../src/store/open.ts'
import { leaseRuns } from '../src/store/runs.ts'
import { insertTask } from '../src/store/tasks.ts'
import { registerWorker } from '../src/store/workers.ts'
import { type Benchmark, type Figure, median, ms, quantile, timed } from './figure.ts'
import { inPlace } from './place.ts'

const turns = 100
/** About what a turn with one small tool call adds to the files of the real programs. */
const turnBytes = 16 * 1024
const sessionBytes = 5 * 1024 * 1024

/** Text as programs write it, and the worst that a file of text can hold: images in base 64. */
const kinds = {
  text: (bytes: number) => fill(bytes, (n) => sentence(n)),
  images: (bytes: number) => fill(bytes, () => randomBytes(900).toString('base64')),
}

export const benchmark: Benchmark = {
  about: `after each of ${turns} turns of ${turnBytes / 1024} KiB the new part of a conversation of 5 MiB is archived, against one bare insert of the same bytes`,
  measure: ({ say }) =>
    inPlace(async (place) => {
      const store = await openStore({ home: join(place.folder, 'home'), url: undefined, log: silentLog })
      place.onEnd(() => store.close())
      const { db } = store.database
      await migrateStore(store.database, { now: new Date(), queueVersion: queueSchemaVersion })
      await sql`create schema bench`.execute(db)
      await sql`create table bench.tails (id bigint generated always as identity primary key, bytes bytea not null)`.execute(db)
      // A vacuum in the middle would tidy up what counts.
      for (const table of ['session_files', 'session_chunks'])
        await sql`alter table ${sql.table(`pawl.${table}`)} set (autovacuum_enabled = false)`.execute(db)

      const figures: Figure[] = []
      for (const [kind, make] of Object.entries(kinds)) {
        const whole: number[] = []
        const bare: number[] = []
        const ours: number[] = []
        const peer: number[] = []
        const insert = (bytes: Buffer) => sql`insert into bench.tails (bytes) values (${bytes})`.execute(db)
        for (let n = 0; n < 5; n++) {
          const other = await makeConversation(db, place.folder, make)
          whole.push(await timed(other.archive))
          bare.push(await timed(() => insert(other.bytes)))
        }
        const { file, archive } = await makeConversation(db, place.folder, make)
        await archive()
        const before = await storeBytes(db)
        let added = 0
        for (let turn = 0; turn < turns; turn++) {
          const bytes = make(turnBytes)
          await appendFile(file, bytes)
          added += bytes.length
          ours.push(await timed(archive))
          peer.push(await timed(() => insert(bytes)))
        }
        const grown = (await storeBytes(db)) - before
        say(`${kind}: ${added} bytes came, the store grew by ${grown}`)
        figures.push({
          name: `archive a turn of ${kind}, p50 / p99`,
          ours: `${ms(median(ours))} / ${ms(quantile(ours, 0.99))}`,
          peer: `${ms(median(peer))} / ${ms(quantile(peer, 0.99))}`,
          ratio: median(ours) / median(peer),
          target: 'p99 ≤ 50 ms',
          isMet: quantile(ours, 0.99) <= 50,
        })
        figures.push({
          name: `archive 5 MiB of ${kind} at once`,
          ours: ms(median(whole)),
          peer: ms(median(bare)),
          ratio: median(whole) / median(bare),
          target: '',
        })
        figures.push({
          name: `growth of the store by ${kind}`,
          ours: `${Math.round(grown / 1024)} KiB`,
          peer: `${Math.round(added / 1024)} KiB new`,
          ratio: grown / added,
          target: '≤ 1.2x',
          isMet: grown <= 1.2 * added,
        })
      }
      return figures
    }),
}

const vendorId = '0b9e6c1e-5f0a-4d7b-9a51-3c1f2a6d8e70'
const files: SessionFiles = { id: /^[0-9a-f-]{36}$/, layouts: (id) => [`.program/projects/folder/${id}.jsonl`] }

/** A home with a conversation of full size, and how it is archived. */
async function makeConversation(db: Db, folder: string, make: (bytes: number) => Buffer) {
  const session = await makeSession(db)
  const home = join(folder, session.session)
  const file = join(home, files.layouts(vendorId)[0]!)
  const bytes = make(sessionBytes)
  await mkdir(dirname(file), { recursive: true })
  await writeFile(file, bytes)
  return { file, bytes, archive: () => archiveSession({ db, home, files, vendorId, ...session, at: new Date() }) }
}

/** A session with a run that holds its lease. */
async function makeSession(db: Db): Promise<{ session: string; run: { id: string; fence: number } }> {
  const now = Date.now()
  const at = new Date(now)
  const [worker, task, session] = [newId('worker', now), newId('task', now), newId('session', now)]
  const run = { id: newId('run', now), fence: 1 }
  await registerWorker(db, { id: worker, host: 'here', bootId: 'boot', pid: process.pid, startTime: '0' }, at)
  const retry = { attempts: 1, baseDelayMs: 1, maxDelayMs: 1 }
  const times = { timeoutMs: null, idleTimeoutMs: null, graceMs: 0 }
  const settings = { name: 'a', adapter: 'a', profile: 'guarded' as const, options: {}, env: { pass: [], set: {} }, budget: {} }
  const rest = { prompt: 'x', workspace: `/tmp/${task}`, workspaceOwn: true, priority: 0, rank: 0, tags: [], extraArgs: [] }
  const agent = { ...settings, ...times, retry }
  await insertTask(db, { id: task, session: { id: session, isNew: true }, agent, ...rest, attended: false, boundTo: null, at })
  const admitted = { task, run: run.id, session, agent: 'a', fence: run.fence, attempt: 1, aloneMs: null }
  await db.transaction().execute((tx) => admitTasks(tx, [admitted], { worker, at }))
  await db.transaction().execute((tx) => leaseRuns(tx, [run.id], { worker, at }))
  return { session, run }
}

/** Rows, what is kept outside of them, and indexes. */
async function storeBytes(db: Db): Promise<number> {
  const { rows } = await sql<{ bytes: number }>`
    select pg_total_relation_size('pawl.session_files') + pg_total_relation_size('pawl.session_chunks') as bytes
  `.execute(db)
  return rows[0]!.bytes
}

function fill(bytes: number, text: (n: number) => string): Buffer {
  const lines: string[] = []
  for (let size = 0, n = 0; size < bytes; n++) {
    const line = `${JSON.stringify({ type: 'assistant', uuid: crypto.randomUUID(), message: { role: 'assistant', content: text(n) } })}\n`
    lines.push(line)
    size += line.length
  }
  return Buffer.from(lines.join(''))
}

const words =
  'the file test function returns error line of in is not a value expected import const when run again path should'.split(' ')
const sentence = (n: number) =>
  Array.from({ length: 150 }, (_, i) => `${words[Math.floor(Math.random() * words.length)]}${i % 9 ? '' : n}`).join(' ')
