import { chmod, cp, mkdir, readFile, realpath, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { readTaskFile } from '../../src/task-file/read.ts'
import { eventsUntil, isResting, makeHome, startEngine } from '../engine/home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let removeFolder: () => Promise<void>
let folder: string
let daemon: Daemon

/** A plain command in the place of both programs: it answers what it was told, and writes into the context folder. */
const worker = `{ adapter: custom, command: [/bin/sh, -c, 'cat; echo; echo "$2"; echo "$MODEL" >> ../shared/report', sh], systemPromptFlag: -s, modelVariable: MODEL }`

beforeAll(async () => {
  home = await makeHome()
  const place = await makeHome('pawl-seed-', { bare: true })
  removeFolder = place.remove
  folder = await realpath(place.path)
  await chmod(folder, 0o755)
  for (const name of ['project', 'shared']) {
    await mkdir(join(folder, name))
    await chmod(join(folder, name), 0o777)
  }
  await cp(join(import.meta.dirname, 'claudomator/nightly.yaml'), join(folder, 'nightly.yaml'))
  await writeFile(join(home.path, 'config.yaml'), `agents:\n  claude: ${worker}\n  codex: ${worker}\n`)
  daemon = await startEngine(home.path)
}, 60_000)
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await removeFolder()
})

it('a task file runs as it is: one after the other, planned unless it says otherwise, with context folders that can be written', async () => {
  const { tasks } = await readTaskFile(folder, 'nightly.yaml')
  const made = await daemon.runtime.createTasks({ tasks }, { by: 'test' })
  const ids = made.tasks.map(({ id }) => id)
  for (const id of ids) await eventsUntil(daemon, id, isResting)
  const [build, publish] = await Promise.all(ids.map((id) => daemon.runtime.getTask(id)))
  expect([build?.state, publish?.state]).toEqual(['completed', 'completed'])
  expect(build?.settings).toMatchObject({
    ...{ model: 'sonnet', profile: 'guarded', timeoutMs: 900_000, skipPlanning: false },
    ...{ contextDirs: [join(folder, 'shared')], writableDirs: [join(folder, 'shared')] },
    budget: { usd: 1.5 },
    retry: { attempts: 2, backoff: 'exponential' },
  })
  expect(build?.result?.text).toMatch(
    /^Before you begin, estimate [\s\S]*The task:\n\nThe nightly report of the shop\.\n\nWrite the report\.\n+Be brief\.$/,
  )
  expect(publish?.result?.text.trim()).toBe('Publish the report.')
  expect(publish?.dependsOn.map(({ id }) => id)).toEqual([ids[0]])
  expect(await readFile(join(folder, 'shared/report'), 'utf8')).toBe('sonnet\n\n')
})
