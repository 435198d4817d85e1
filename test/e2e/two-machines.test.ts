import { access, mkdtemp, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { silentLog } from '../../src/base/log.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { layoutOf } from '../../src/store/embedded/layout.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { json, pawl, type Running, serve, startPawl } from './pawl.ts'

const homes: Awaited<ReturnType<typeof makeHome>>[] = []
const running: Running[] = []
let database: Awaited<ReturnType<typeof openEmbedded>>
let url: string
/** The agents wait until it is there. */
let go: string

beforeAll(async () => {
  for (let n = 0; n < 3; n++) homes.push(await makeHome('pawl-machines-'))
  go = join(homes[2]!.path, 'go')
  const command = JSON.stringify(['sh', '-c', `until [ -e ${go} ]; do sleep 0.1; done; echo done`])
  database = await openEmbedded({ home: homes[2]!.path, log: silentLog })
  url = `postgres://pawl@localhost/pawl?host=${encodeURIComponent(layoutOf(homes[2]!.path).socketDir)}`
  // The daemon is full after two, so the next ones are the worker's.
  for (const [n, { path }] of homes.slice(0, 2).entries())
    await writeFile(
      join(path, 'config.yaml'),
      `database: { url: '${url}' }\nlimits: { running: ${n === 0 ? 2 : 4} }\nagents:\n  waiting: { adapter: custom, command: ${command}, profile: unattended-open }\n`,
    )
}, 60_000)
afterAll(async () => {
  for (const { process: child, ended } of running) {
    child.kill('SIGTERM')
    await ended
  }
  await database.release()
  for (const home of homes) await home.remove()
}, 60_000)

it('a daemon and a worker share the tasks of one database, and what the worker ran goes on at the daemon when it is killed', {
  timeout: 180_000,
}, async () => {
  const [here, there] = homes.map(({ path }) => path) as [string, string]
  running.push(await serve(here))
  const worker = startPawl(there, ['worker', '--json', '--database-url', url])
  running.push(worker)
  await until(() => worker.stdout().includes('"pid"'), 60_000)
  const add = async () =>
    (await pawl(here, ['task', 'add', '--agent', 'waiting', 'look'], { cwd: await mkdtemp(join(here, 'work-')) })).stdout.trim()
  const task = async (id: string) => json<TaskView>(await pawl(here, ['show', id, '--json']))
  const ranAt = async (home: string, id: string) => {
    const run = (await task(id)).runs[0]?.id
    return (
      run !== undefined &&
      (await access(join(home, 'runs', run)).then(
        () => true,
        () => false,
      ))
    )
  }
  const ids: string[] = []
  let its: string | undefined
  let isShared = false
  while (!isShared && ids.length < 4) {
    const id = await add()
    ids.push(id)
    await until(async () => (await ranAt(here, id)) || (await ranAt(there, id)), 60_000)
    if (await ranAt(there, id)) its = id
    isShared = its !== undefined && (await Promise.all(ids.map((one) => ranAt(here, one)))).includes(true)
  }
  expect(isShared).toBe(true)
  worker.process.kill('SIGKILL')
  await worker.ended
  await writeFile(go, '')
  for (const id of ids) await until(async () => (await task(id)).state === 'completed', 120_000)
  expect((await task(its!)).runs.length).toBeGreaterThan(1)
  expect((await Promise.all(ids.map(task))).map(({ result }) => result?.text.trim())).toEqual(ids.map(() => 'done'))
})
