import { chmod, mkdtemp, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { setTimeout as pause } from 'node:timers/promises'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { TaskView } from '../../src/domain/view/view.ts'
import { makeHome } from '../engine/ready-database.ts'
import { until } from '../engine/until.ts'
import { type Running, serve } from './pawl.ts'

let made: Awaited<ReturnType<typeof makeHome>>
let work: string
let daemon: Running & { url: string; token: string }
beforeAll(async () => {
  made = await makeHome('pawl-patterns-')
  work = await mkdtemp(join(tmpdir(), 'pawl-patterns-ws-'))
  await chmod(work, 0o777)
  // Says what it is asked to say.
  const settings = { agents: { parrot: { adapter: 'custom', command: ['cat'] } } }
  await writeFile(join(made.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
  daemon = await serve(made.path)
})
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await made.remove()
  await rm(work, { recursive: true, force: true })
})

const ask = (path: string, body?: object) =>
  fetch(`${daemon.url}/api/v1${path}`, {
    headers: { Authorization: `Bearer ${daemon.token}`, 'Content-Type': 'application/json' },
    ...(body ? { method: 'POST', body: JSON.stringify(body) } : {}),
  })

/** The longest time that `/healthz` took while `work` was done. */
async function slowestAnswer<T>(work: Promise<T>): Promise<{ result: T; slowestMs: number }> {
  let isOver = false
  let slowestMs = 0
  const result = work.finally(() => {
    isOver = true
  })
  while (!isOver) {
    const startedAt = performance.now()
    expect((await fetch(`${daemon.url}/healthz`)).status).toBe(200)
    slowestMs = Math.max(slowestMs, performance.now() - startedAt)
    await Promise.race([pause(20), result.catch(() => undefined)])
  }
  return { result: await result, slowestMs }
}

async function ended(id: string): Promise<TaskView> {
  return until(async () => {
    const task = (await (await ask(`/tasks/${id}`)).json()) as TaskView
    return ['completed', 'failed'].includes(task.state) ? task : undefined
  }, 60_000)
}

const levels = Object.fromEntries(
  Array.from({ length: 40 }, (_, n) => [`l${n}`, { allOf: [{ $ref: `#/$defs/l${n + 1}` }, { $ref: `#/$defs/l${n + 1}` }] }]),
)
// What `cat` prints is the prompt, followed by the instruction that holds the schema: the JSON is the one fenced block.
const fenced = (value: unknown) => `\`\`\`json\n${JSON.stringify(value)}\n\`\`\`\n`

test.each([
  ['a pattern that backtracks', { pattern: '^(a+)+$' }, `${'a'.repeat(5_000)}!`],
  ['names of properties that backtrack', { patternProperties: { '^(a+)+$': false } }, { [`${'a'.repeat(5_000)}!`]: 1 }],
  ['references that double at each level', { $defs: { ...levels, l40: { type: 'string' } }, $ref: '#/$defs/l0' }, 1],
  ['100,000 different items', { uniqueItems: true }, Array.from({ length: 100_000 }, (_, n) => [n])],
])('the daemon answers while a task is checked by %s', { timeout: 90_000 }, async (_, outputSchema, answer) => {
  const { result, slowestMs } = await slowestAnswer(
    (async () => {
      const made = await ask('/tasks', {
        prompt: fenced(answer),
        agent: 'parrot',
        workspace: work,
        outputSchema,
        retry: { attempts: 1 },
      })
      expect(made.status).toBe(201)
      return ended(((await made.json()) as TaskView).id)
    })(),
  )
  expect(result.state).toMatch(/completed|failed/)
  // It was 45 s and more. Generous, as the whole machine is at work while tests run.
  expect(slowestMs).toBeLessThan(2_000)
})

test('a schema whose pattern RE2 does not have is refused with the pattern when the task is made', async () => {
  const refused = await ask('/tasks', { prompt: 'x', agent: 'parrot', workspace: work, outputSchema: { pattern: '^(?!a)b' } })
  expect(refused.status).toBe(400)
  expect(await refused.text()).toMatch(/\^\(\?!a\)b.*looks ahead or behind/)
})

test.each([
  ['keys', Array.from({ length: 50_000 }, (_, n) => `k${n}: 1`).join('\n')],
  ['directives', '%\n'.repeat(240_000)],
  ['underscores', `{"${'_'.repeat(400_000)}": 1}`],
])('the daemon answers while it reads a task file of many %s', { timeout: 90_000 }, async (_, text) => {
  const { result, slowestMs } = await slowestAnswer(ask('/tasks/read', { text }))
  expect(result.status).toBe(400)
  expect(await result.text()).toMatch(/takes longer than 5 s|needs too much memory|is not known here|There is no task/)
  expect(slowestMs).toBeLessThan(2_000)
})

test('a task file is read on a thread as it was read before: tasks, schedules, and all that is wrong with its line', async () => {
  const good = await ask('/tasks/read', { text: '- prompt: x\n- {prompt: y, schedule: "0 3 * * *"}' })
  expect(await good.json()).toMatchObject({
    tasks: [{ prompt: 'x' }, { prompt: 'y' }],
    schedules: [null, { when: { kind: 'cron' } }],
  })
  const bad = await ask('/tasks/read', { text: 'prompt: x\ntimeuot: 3s\nnaem: y' })
  expect(bad.status).toBe(400)
  expect(await bad.json()).toMatchObject({
    details: { problems: [expect.stringMatching(/^line:2 /), expect.stringMatching(/^line:3 /)] },
  })
})
