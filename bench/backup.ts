import { execFile } from 'node:child_process'
import { open, rm, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { silentLog } from '../src/base/log.ts'
import { loadConfig } from '../src/config/config.ts'
import { restoreHome } from '../src/daemon/restore-home.ts'
import { queueSchemaVersion } from '../src/engine/queue/dispatch.ts'
import { takeBackup } from '../src/store/backup/take.ts'
import { migrateStore } from '../src/store/migrate.ts'
import { openStore } from '../src/store/open.ts'
import { type Benchmark, mib, ms, timed } from './figure.ts'
import { inPlace } from './place.ts'

const run = promisify(execFile)
/** What the rows hold; PAWL_BENCH_MIB for a look at something smaller. */
const wantedMiB = Number(process.env.PAWL_BENCH_MIB ?? 1_024)
const perEvent = 2_048

export const benchmark: Benchmark = {
  about: `a store of ${wantedMiB} MiB is backed up into one file with its hashes, and restored, against a plain copy of its files that reaches the disk`,
  measure: ({ say }) =>
    inPlace(async (place) => {
      const home = join(place.folder, 'home')
      const store = await openStore({ home, url: undefined, log: silentLog })
      let isOpen = true
      const close = async () => {
        if (isOpen) await store.close()
        isOpen = false
      }
      place.onEnd(close)
      await migrateStore(store.database, { now: new Date(), queueVersion: queueSchemaVersion })
      const client = await store.database.alone()
      const events = Math.round((wantedMiB * 1024 * 1024) / perEvent)
      // What agents say: words that do not repeat, no row so large that it is stored apart.
      await client.query(
        `insert into pawl.events (task_id, seq, type, at, data)
         select 't_1m7hre0130s44sv' || to_char(n % 100, 'FM000'), n, 'agent.message', now(), jsonb_build_object('text', (
           select string_agg(md5((n * 61 + k)::text), ' ') from generate_series(1, ${Math.round(perEvent / 34.5)}) k))
         from generate_series(1, ${events}) n`,
      )
      await client.query('checkpoint')
      const { rows } = await client.query<{ bytes: number }>("select pg_total_relation_size('pawl.events')::float8 as bytes")
      const stored = rows[0]!.bytes
      const file = join(place.folder, 'all.pawl')
      let bytes = 0
      const taking = await timed(async () => {
        const done = await takeBackup(client, {
          ...{ file, home, pawl: 'bench', database: { kind: 'embedded', version: '18' }, now: new Date() },
          ...{ withKeys: false, withWorkspaces: false, withLogs: false },
        })
        bytes = done.bytes
        if (done.rows < events) throw new Error(`only ${done.rows} rows are in it`)
      })
      await client.end()
      await close()
      say(`${events} events, ${mib(stored)} in the store, ${mib(bytes)} in the file`)
      const copy = join(place.folder, 'copy')
      const copying = await timed(async () => {
        await run('cp', ['-a', '--reflink=never', join(home, 'postgres'), copy])
        await run('sync', ['-f', copy])
      })
      await rm(copy, { recursive: true })
      // The rows of the first home make room for those of the second.
      await rm(home, { recursive: true })
      const config = await loadConfig({ adapters: [], cwd: place.folder, env: { PAWL_HOME: join(place.folder, 'again') } })
      const restoring = await timed(async () => {
        const { audit, backup } = await restoreHome({ config, file, log: silentLog })
        if (!audit.isWhole || backup.rows < events) throw new Error('not all of it came back')
      })
      const size = (await stat(file)).size
      // The same bytes read and nothing done with them.
      const reading = await timed(async () => {
        const handle = await open(file)
        for await (const _ of handle.createReadStream({ highWaterMark: 1024 * 1024 }));
      })
      const peer = `${ms(copying)} (cp and sync of the server's files)`
      return [
        {
          name: `back up ${mib(stored)} of store`,
          ours: ms(taking),
          peer,
          ratio: taking / copying,
          target: '≤ 60 s',
          isMet: wantedMiB < 1_024 ? undefined : taking <= 60_000,
        },
        {
          name: `restore it, every hash compared (read alone ${ms(reading)})`,
          ours: ms(restoring),
          peer,
          ratio: restoring / copying,
          target: '',
        },
        { name: 'size of the file', ours: mib(size), peer: mib(stored), ratio: size / stored, target: '' },
      ]
    }),
}
