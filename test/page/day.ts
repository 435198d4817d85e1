import { chmod, mkdir, mkdtemp, readdir, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join, resolve } from 'node:path'
import pg from 'pg'
import { silentLog } from '../../src/base/log.ts'
import { newId } from '../../src/domain/id.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'
import { until } from '../engine/until.ts'
import { type Stage, startStage } from './stage.ts'

/** A daemon in the middle of an ordinary day: work that runs, waits, asks, was done and has failed, by several agents. */
export interface Day {
  readonly stage: Stage
  /** The tasks that are shown by themselves, by name. */
  readonly tasks: Readonly<Record<'review' | 'running', string>>
  readonly session: string
  stop(): Promise<void>
}

type Step = Record<string, unknown>
const said = (text: string): Step => ({ say: text })
let calls = 0
/** A call of a tool and what came back. */
function used(name: string, input: unknown, content: string, isError = false): Step {
  const id = `call-${++calls}`
  return {
    lines: [
      { type: 'assistant', message: { content: [{ type: 'tool_use', id, name, input }] } },
      { type: 'user', message: { content: [{ type: 'tool_result', tool_use_id: id, content, is_error: isError }] } },
    ],
  }
}
const begun = (name: string, input: unknown): Step => ({
  line: { type: 'assistant', message: { content: [{ type: 'tool_use', id: `call-${++calls}`, name, input }] } },
})
const spent = (usd: number, input: number, output: number): Step => ({
  spend: {
    usd,
    usage: { input_tokens: input, output_tokens: output, cache_read_input_tokens: input * 6, cache_creation_input_tokens: input },
  },
})
const todo = (...items: [content: string, status: string][]) =>
  used('TodoWrite', { todos: items.map(([content, status]) => ({ content, status })) }, 'Todos have been modified.')

const wrongLeap = 'export const isLeap = (year: number) => year % 4 === 0\n'
const rightLeap = `/** Every fourth year, but of the centuries only every fourth. */
export const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0
`
const leapTest = `import { expect, test } from 'vitest'
import { isLeap } from './calendar.ts'

test.each([
  [2024, true],
  [1900, false],
  [2000, true],
])('%i', (year, leap) => expect(isLeap(year)).toBe(leap))
`
const [findLeap, writeTest, runTests] = ['Find what decides about leap years', 'Correct it, with a test', 'Run all tests']

const choices = {
  'Read both': 'for a year, with a warning',
  Convert: 'at the first start, with a copy of the old file',
  Refuse: 'with a hint of how to convert it',
}

/** What the agent does, by words of the prompt. */
const plays = (): Record<string, Step[]> => ({
  'leap years': [
    said('I look for the place that decides about leap years.'),
    todo([findLeap, 'in_progress'], [writeTest, 'pending'], [runTests, 'pending']),
    used('Grep', { pattern: 'isLeap|% 4' }, 'src/calendar.ts:1\nsrc/month.ts:14'),
    used('Read', { file_path: 'src/calendar.ts' }, wrongLeap),
    said('`isLeap` takes **every** fourth year. 1900 had no 29 February, so centuries need a rule of their own.'),
    todo([findLeap, 'completed'], [writeTest, 'in_progress'], [runTests, 'pending']),
    used('Edit', { file_path: 'src/calendar.ts', old_string: wrongLeap, new_string: rightLeap }, 'The file has been updated.'),
    { write: { file: 'src/calendar.ts', text: rightLeap } },
    used('Write', { file_path: 'src/calendar.test.ts', content: leapTest }, 'File created.'),
    { write: { file: 'src/calendar.test.ts', text: leapTest } },
    used(
      'Bash',
      { command: 'npx vitest run' },
      '✓ src/calendar.test.ts (3 tests)\n✓ src/month.test.ts (11 tests)\n\nTests  14 passed',
    ),
    todo([findLeap, 'completed'], [writeTest, 'completed'], [runTests, 'completed']),
    spent(0.42, 9_214, 2_310),
    said(
      'Leap years follow the Gregorian rule now.\n\n- `src/calendar.ts`: centuries count only when 400 divides them\n- `src/calendar.test.ts`: 1900, 2000 and 2024\n\nAll 14 tests pass.',
    ),
  ],
  'settings to YAML': [
    used('Read', { file_path: 'src/settings.ts' }, 'export const file = "settings.json"'),
    said('Both formats can be read. One thing only you can decide.'),
    {
      use: {
        ...{ id: 'question', name: 'AskUserQuestion' },
        input: {
          questions: [
            {
              ...{ question: 'What becomes of the settings that users have as JSON?', header: 'Old files', multiSelect: false },
              options: Object.entries(choices).map(([label, description]) => ({ label, description })),
            },
          ],
        },
      },
    },
  ],
  'version 2.4': [
    used('Bash', { command: 'npm version 2.4.0' }, 'v2.4.0'),
    said('The version is tagged; now it goes out.'),
    { use: { id: 'push', name: 'Bash', input: { command: 'git push origin v2.4.0' } } },
  ],
  dependencies: [
    said('Twelve packages are behind. I take them one by one, with the tests after each.'),
    used('Bash', { command: 'npm outdated' }, 'hono  4.13.1  4.13.17\nzod   4.6.2   4.6.7'),
    begun('Bash', { command: 'npm update hono && npm test' }),
    { hang: true },
  ],
  'search index': [
    used('Bash', { command: 'npm run bench' }, 'p95 41 ms'),
    spent(1.84, 31_220, 8_400),
    said('Searches take 41 ms at p95, before it was 310.'),
  ],
  'same for the autocompletion': [
    used('Bash', { command: 'npm run bench' }, 'p95 12 ms'),
    spent(0.37, 8_020, 1_100),
    said('Completions come in 12 ms at p95: they use the same index now.'),
  ],
  'billing module': [
    spent(0.66, 12_400, 3_100),
    said('The module is called `invoices` everywhere, the old name is kept for a release.'),
  ],
  'Node 26': [spent(0.91, 15_000, 2_900), said('Most of it runs; the native module of the image library does not build.')],
  'error messages': [
    {
      line: { type: 'rate_limit_event', rate_limit_info: { status: 'rejected', resetsAt: Math.ceil(Date.now() / 1000) + 8_040 } },
    },
    spent(0.12, 3_000, 400),
    { fail: "You've hit your limit" },
  ],
})

const triage = `const prompt = require('node:fs').readFileSync(0, 'utf8')
if (prompt.includes('mail')) { console.error('The mail server refused the password.'); process.exit(1) }
console.log('412 tests, run five times: none is flaky.')
`

export async function startDay(): Promise<Day> {
  const folder = await mkdtemp(join(tmpdir(), 'pawl-day-'))
  // Two, because what runs in one keeps others from it.
  const [shop, site] = [join(folder, 'shop'), join(folder, 'site')] as const
  for (const place of [shop, site]) {
    await mkdir(join(place, 'src'), { recursive: true })
    await writeFile(join(place, 'src/calendar.ts'), wrongLeap)
    await writeFile(join(place, '.plays.json'), JSON.stringify(plays()))
    await writeFile(join(place, '.triage.cjs'), triage)
    for (const path of [folder, place, ...(await readdir(place, { recursive: true })).map((name) => join(place, name))])
      await chmod(path, 0o777)
  }
  const command = resolve(import.meta.dirname, '../fake-agent/fake-claude.js')
  const claude = {
    adapter: 'claude-code',
    command,
    model: 'claude-sonnet-4-5',
    env: ['FAKE_PLAYS=.plays.json'],
    profile: 'careful',
    gateway: false,
  }
  const agents = { claude, triage: { adapter: 'custom', command: [process.execPath, '.triage.cjs'] } }
  const more = {
    profiles: { careful: { extends: 'guarded', rules: { ask: ['Bash(git push:*)'] } } },
    budget: { day: 25, month: 400 },
  }
  // JSON is YAML too.
  const settings = Object.entries({ agents, ...more }).map(([key, value]) => `${key}: ${JSON.stringify(value)}\n`)
  // The screens say where programs were looked for: the same everywhere.
  const env = { ANTHROPIC_API_KEY: 'key-of-the-page-tests-0123456789', PATH: '/usr/local/bin:/usr/bin:/bin' }
  const stage = await startStage(settings.join(''), env)
  const { client } = stage
  const add = async (name: string, prompt: string, task: Partial<NewTask> = {}) =>
    (await client.createTask({ name, prompt, agent: 'claude', workspace: shop, ...task })).task
  const reaches = (id: string, ...states: string[]) =>
    until(async () => states.includes((await client.getTask(id)).state), 40_000)
  const done = async (...given: Parameters<typeof add>) => {
    const task = await add(...given)
    await reaches(task.id, 'completed', 'failed', 'review', 'blocked', 'parked')
    return task
  }

  const faster = await done('Speed up the search', 'Make the search index faster; p95 below 50 ms.', { tags: ['search'] })
  await done('And the autocompletion', 'Now the same for the autocompletion.', { session: faster.session, tags: ['search'] })
  await done('Rename the billing module', 'Rename the billing module to invoices.', { tags: ['tidy'] })
  const check = (run: string, name: string) => ({ attempts: 1, commands: [{ run, name }] })
  await done('Try Node 26', 'Try whether everything runs on Node 26.', {
    checks: check('echo "node-gyp: build failed"; false', 'it builds'),
    retry: { attempts: 1 },
  })
  const review = await done(
    'Correct the leap years',
    'The calendar is wrong about leap years: 1900 had no 29 February. Correct it, with a test.',
    {
      ...{ review: true, tags: ['calendar'] },
      checks: {
        attempts: 1,
        commands: [
          { run: 'grep -c "% 400" src/calendar.ts', name: 'the rule is there' },
          { run: 'ls src', name: 'all files are there' },
        ],
      },
    },
  )
  await done('Settings as YAML', 'Move the settings to YAML.', {
    questions: { deadlineMs: 7_200_000, afterDeadline: { kind: 'proceed', answer: 'Read both' } },
  })
  const release = await done('Publish 2.4', 'Publish version 2.4.', { tags: ['release'] })
  await add('Write the release notes', 'Write the release notes.', { dependsOn: [release.id], tags: ['release'] })
  const running = await add('Update the dependencies', 'Update the dependencies, each with the tests.', {
    ...{ tags: ['tidy'], workspace: site },
  })
  await reaches(running.id, 'running')
  await until(async () => (await client.getTask(running.id)).current?.includes('npm update'))

  const schedule = async (name: string, expression: string, prompt: string) => {
    const task = { prompt, name, agent: 'triage', workspace: shop, retry: { attempts: 1 } }
    const plan = { session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 } as const
    return (await client.createSchedule({ name, when: { kind: 'cron', expression, timeZone: 'Europe/Berlin' }, task, ...plan }))
      .id
  }
  const nightly = await schedule('flaky-tests', '0 3 * * *', 'Look for flaky tests.')
  const mail = await schedule('answer-mail', '*/30 8-18 * * 1-5', 'Answer the support mail.')
  await client.pauseSchedule(await schedule('tidy-branches', '0 9 * * 1', 'Remove branches that were merged.'))
  for (const id of [nightly, mail]) {
    await client.runSchedule(id)
    await until(async () => (await client.getSchedule(id)).lastTick)
  }
  await until(async () => (await client.getSchedule(mail)).health.failedInARow === 1)
  await done('Translate the error messages', 'Translate the error messages to French.', { tags: ['texts'] })
  await seedCosts(stage.home)
  return {
    stage,
    tasks: { review: review.id, running: running.id },
    session: faster.session,
    async stop() {
      await client.cancelTask(running.id, { now: true })
      await stage.stop()
      await rm(folder, { recursive: true, force: true })
    },
  }
}

/** A month of calls, more of them on working days. */
async function seedCosts(home: string): Promise<void> {
  const server = await openEmbedded({ home, log: silentLog })
  const db = new pg.Client(server.connection)
  try {
    await db.connect()
    await db.query(
      `insert into pawl.ledger (run_id, number, task_id, root_id, agent, account, user_name, model, at, input_tokens, output_tokens,
         cache_read_tokens, cache_write_tokens, turns, cost_usd, counted_usd, known, provider)
       select $2, day * 3 + kind, $1, $1, (array['claude', 'codex', 'triage'])[kind + 1], 'seed', 'owner',
         (array['claude-sonnet-4-5', 'gpt-5-codex', 'claude-haiku-4-5'])[kind + 1], now() - day * interval '1 day',
         40000 * weight, 9000 * weight, 220000 * weight, 30000 * weight, 12, usd, usd, 'reported', null
       from generate_series(1, 29) day, generate_series(0, 2) kind,
         lateral (select case when extract(isodow from now() - day * interval '1 day') > 5 then 1 else 3 + (day * 7) % 4 end weight) w,
         lateral (select round((weight * (array[1.9, 0.8, 0.3])[kind + 1])::numeric, 2) usd) m`,
      [newId('task', Date.now()), newId('run', Date.now())],
    )
  } finally {
    await db.end()
    await server.release()
  }
}
