import { mkdir, readdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { expect, it, onTestFinished } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import { openRuntime } from '../../src/daemon/daemon.ts'
import { restoreHome } from '../../src/daemon/restore-home.ts'
import { createPeriodicBackups } from '../../src/engine/upkeep/periodic-backups.ts'
import { openStore } from '../../src/store/open.ts'
import { loadTestConfig, makeHome, until } from './home.ts'
import { HandClock } from './test-clock.ts'

async function homeOf() {
  const home = await makeHome()
  onTestFinished(home.remove)
  return home.path
}

it('backups are taken by themselves whenever the last one is old enough, and only as many of their own are kept as are wanted', {
  timeout: 60_000,
}, async () => {
  const home = await homeOf()
  const folder = join(home, 'backups')
  const clock = new HandClock()
  const own = await openRuntime({ config: await loadTestConfig(home), log: silentLog, clock })
  onTestFinished(() => own.stop())
  const settings = { everyMs: 60_000, keep: 2, folder, withWorkspaces: false, withLogs: false }
  const periodic = createPeriodicBackups({ verbs: own.runtime, settings, clock, log: silentLog })
  await mkdir(folder)
  await writeFile(join(folder, 'mine.pawl'), 'of somebody else')
  const names = async () => (await readdir(folder)).filter((name) => name.startsWith('auto-')).sort()
  const newest = async () => (await names()).at(-1)
  const pass = (wanted: string) =>
    until(async () => {
      // The next one is planned a moment after the last is on disk.
      clock.advance(1_000)
      return (await newest())?.includes(wanted)
    })
  periodic.start()
  await pass('auto-2030-01-01_00-00')
  await pass('auto-2030-01-01_00-01')
  await pass('auto-2030-01-01_00-02')
  await periodic.stop()
  const kept = await names()
  expect(kept.length).toBe(2)
  expect(await readdir(folder)).toContain('mine.pawl')
  clock.advance(600_000)
  expect(await names()).toEqual(kept)
})

it('a store, and a backup, of a newer Pawl are refused and left as they are', { timeout: 60_000 }, async () => {
  const [home, other] = [await homeOf(), await homeOf()]
  const config = await loadTestConfig(home)
  const file = join(home, 'newer.pawl')
  const own = await openRuntime({ config, log: silentLog })
  const store = await openStore({ home, url: undefined, log: silentLog })
  await store.database.pool.query("insert into pawl.migrations (id, name, applied_at) values (9999, 'later', now())")
  await own.runtime.createBackup({ file }, { by: 'test' })
  await store.close()
  await own.stop()
  await expect(openRuntime({ config, log: silentLog })).rejects.toThrow('9999')
  await expect(restoreHome({ config: await loadTestConfig(other), file, log: silentLog })).rejects.toThrow('9999')
  const untouched = await openRuntime({ config: await loadTestConfig(other), log: silentLog })
  expect((await untouched.runtime.listTasks({ limit: 10 })).items).toEqual([])
  await untouched.stop()
})
