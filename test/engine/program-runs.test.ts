import { chmod, copyFile, mkdir, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { fileURLToPath } from 'node:url'
import { afterAll, beforeAll, expect, it } from 'vitest'
import { createLog } from '../../src/base/log.ts'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'

const fakeClaude = fileURLToPath(new URL('../fake-agent/fake-claude.js', import.meta.url))
const usage = { input_tokens: 10, output_tokens: 5, cache_read_input_tokens: 1, cache_creation_input_tokens: 2 }

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
let program: string
let daemon: Daemon
const logged: Record<string, unknown>[] = []
beforeAll(async () => {
  home = await makeHome()
  await writeFile(join(home.path, 'config.yaml'), 'timeouts: { warm: 0 }\n')
  folder = await mkdtemp(join(tmpdir(), 'pawl-program-'))
  await chmod(folder, 0o755)
  program = join(folder, 'claude')
  const script = [
    '#!/bin/sh',
    `[ "$1" = --version ] || { echo "$*" >> started; [ ! -e crash ] || { rm crash; kill -9 $$; }; }`,
    // Beside it, because behind the walls nothing else of this folder for temporary files is seen.
    `exec "${process.execPath}" "${folder}/fake-claude.js" "$@"`,
  ]
  await writeFile(program, `${script.join('\n')}\n`, { mode: 0o755 })
  await copyFile(fakeClaude, join(folder, 'fake-claude.js'))
  const log = createLog({ level: 'info', format: 'json', now: Date.now, write: (line) => logged.push(JSON.parse(line)) })
  daemon = await startEngine(home.path, { log })
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
  await rm(folder, { recursive: true, force: true })
})

/** A program that names its conversation, does what the steps say, and remembers nothing of it. */
const agent = (changes: Partial<ResolvedAgent> = {}) =>
  ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    model: 'a-model',
    options: { command: program },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    // It tells of calls that it does not make.
    gateway: false,
    graceMs: 1_000,
    retry: { attempts: 1, baseDelayMs: 10, maxDelayMs: 20 },
    ...changes,
  })
async function finish(steps: object[] | string, changes: Partial<ResolvedAgent> = {}, task: Partial<NewTask> = {}) {
  const prompt = typeof steps === 'string' ? steps : JSON.stringify(steps)
  const { task: made } = await daemon.runtime.createTask({ prompt, agentConfig: agent(changes), ...task }, { by: 'test' })
  const events = await eventsUntil(daemon, made.id, isResting)
  return { events, task: await daemon.runtime.getTask(made.id) }
}
const failure = (fields: object) => ({
  line: { type: 'result', subtype: 'success', is_error: true, num_turns: 2, total_cost_usd: 0.5, usage, ...fields },
})
/** The conversation that each start of the program was told to begin or to go on with. */
const startsIn = async ({ workspace }: { workspace: string }) =>
  (await readFile(join(workspace, 'started'), 'utf8')).match(/--(session-id|resume)=\S+/g) ?? []
const vendorIdOf = async ({ session }: { session: string }) => (await daemon.runtime.getSession(session)).vendorId

it('a run that fails keeps what was said, what it used and cost, and how the program ended', async () => {
  const { task, events } = await finish([{ say: 'half of it' }, failure({ subtype: 'error_max_turns' })])
  const figures = { costUsd: 0.5, usage: { inputTokens: 10, outputTokens: 5, turns: 2 } }
  expect(task).toMatchObject({
    state: 'failed',
    reason: { kind: 'max_turns' },
    result: { outcome: 'failed', text: 'half of it', ...figures },
    runs: [{ outcome: 'failed', category: 'max_turns', ...figures }],
  })
  expect(events.filter((event) => event.type === 'run.ended').map((event) => event.data)).toMatchObject([
    // It was told to leave after its turn, and may have been ended before it had.
    { outcome: 'failed', exitCode: expect.toSatisfy((code: unknown) => code === 0 || code === null), ...figures },
  ])
  const broken = await finish([{ say: 'begun' }, { stderr: 'the disk is full' }, { exit: 3 }])
  expect(broken.task.result).toMatchObject({ outcome: 'failed', text: 'begun' })
  expect(broken.events.find((event) => event.type === 'run.ended')?.data).toMatchObject({
    exitCode: 3,
    message: 'Exit code 3: the disk is full',
  })
})

it('an empty answer is asked for once more if nothing was done, and delivered as such if tools ran', async () => {
  const retry = { attempts: 3, baseDelayMs: 10, maxDelayMs: 20 }
  const answered = await finish([{ next: [{ say: 'here it is' }] }], { retry })
  expect(answered.task).toMatchObject({
    state: 'completed',
    result: { outcome: 'succeeded', text: 'here it is' },
    runs: [{ outcome: 'empty', category: 'empty_answer' }, { outcome: 'succeeded' }],
  })
  const silent = await finish([{ line: { type: 'system', subtype: 'status' } }], { retry })
  expect(silent.task).toMatchObject({ state: 'completed', reason: { kind: 'empty' }, result: { outcome: 'empty', text: '' } })
  expect(silent.task.runs.map(({ outcome }) => outcome)).toEqual(['empty', 'empty'])
  const tool = { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a' } }
  const worked = await finish([{ line: { type: 'assistant', message: { content: [tool] } } }, { next: [{ say: 'never' }] }], {
    retry,
  })
  expect(worked.task).toMatchObject({ state: 'completed', result: { outcome: 'empty' }, runs: [{ outcome: 'empty' }] })
  expect(worked.task.runs).toHaveLength(1)
})

it('work that was done without a word is checked like any other', async () => {
  const tool = { type: 'tool_use', id: 'a', name: 'Read', input: { path: 'a' } }
  const steps = [{ line: { type: 'assistant', message: { content: [tool] } } }]
  const checked = async (run: string) => (await finish(steps, {}, { checks: { commands: [{ run }], attempts: 0 } })).task
  expect(await checked('true')).toMatchObject({ state: 'completed', proof: 'verified', result: { outcome: 'empty' } })
  expect(await checked('false')).toMatchObject({ state: 'failed', reason: { kind: 'checks_failed' } })
})

it('one log line names the cause, with the time at which a limit ends', async () => {
  const said = "You've hit your weekly limit · resets in 3 days"
  // An account of its own: those that the others use stay free.
  const { task } = await finish([failure({ api_error_status: 429, result: said })], { name: 'limited' })
  expect(task.state).toBe('parked')
  const lines = logged.filter((line) => line.message === 'a run ended' && line.task === task.id)
  expect(lines).toMatchObject([{ level: 'info', outcome: 'failed', category: 'usage_limit', detail: said }])
})

it('only a failure that nobody explains has the program looked at, beside everything else', async () => {
  const clear = await finish([{ stderr: 'the disk is full' }, { exit: 1 }])
  const obscure = await finish([{ exit: 0 }])
  const found = () => logged.filter((line) => line.message === 'why a run may have failed')
  await until(() => found().some((line) => line.task === obscure.task.id))
  expect(found().map(({ level, task, probed }) => ({ level, task, probed }))).toEqual([
    { level: 'info', task: obscure.task.id, probed: 'the program is well now, so it was a passing failure' },
  ])
  expect(clear.task.reason?.detail).toBe('Exit code 1: the disk is full')
  expect(obscure.task.reason?.detail).toBe('The program ended without a result.')
})

it('the id that came back is the one that is stored and gone on with', async () => {
  const other = '22222222-0000-4000-8000-000000000000'
  const { task } = await finish([{ say: 'one' }])
  const first = await vendorIdOf(task)
  expect(await startsIn(task)).toEqual([`--session-id=${first}`])
  const renamed = [
    { line: { type: 'system', subtype: 'init', session_id: other } },
    { line: { type: 'result', subtype: 'success', is_error: false, result: 'two', session_id: other } },
  ]
  await finish(renamed, {}, { session: task.session })
  expect(await vendorIdOf(task)).toBe(other)
  await finish([{ say: 'three' }], {}, { session: task.session })
  expect(await startsIn(task)).toEqual([`--session-id=${first}`, `--resume=${first}`, `--resume=${other}`])
})

it('after a second question the conversation is still the one that asked', async () => {
  const ask = (text: string) => ({ call: { name: 'ask_user', arguments: { question: text } } })
  const { task } = await finish([{ next: [{ next: [{ say: 'both heard' }] }, ask('Which host?')] }, ask('Which port?')])
  const first = await vendorIdOf(task)
  for (const [count, answer] of [
    [1, '80'],
    [2, 'here'],
  ] as const) {
    const asked = await until(async () => {
      const now = await daemon.runtime.getTask(task.id)
      return now.state === 'blocked' && now.questions.length === count && now.questions.at(-1)
    })
    expect(await vendorIdOf(task)).toBe(first)
    await daemon.runtime.answerQuestion(asked.id, answer, { by: 'test' })
  }
  await eventsUntil(daemon, task.id, (event) => event.type === 'task.completed')
  expect((await daemon.runtime.getTask(task.id)).result?.text).toBe('both heard')
  expect(await vendorIdOf(task)).toBe(first)
  expect(await startsIn(task)).toEqual([`--session-id=${first}`, `--resume=${first}`, `--resume=${first}`])
})

it('a run that is tried again never begins a conversation under an id that is taken', async () => {
  const retry = { attempts: 2, baseDelayMs: 10, maxDelayMs: 20 }
  const refused = await finish([{ say: 'begun' }, failure({ api_error_status: 529, result: 'Overloaded' })], { retry })
  await eventsUntil(daemon, refused.task.id, (event) => event.type === 'task.completed')
  const id = await vendorIdOf(refused.task)
  expect(await startsIn(refused.task)).toEqual([`--session-id=${id}`, `--resume=${id}`])

  const workspace = await mkdtemp(join(tmpdir(), 'pawl-ws-'))
  await chmod(workspace, 0o777)
  await writeFile(join(workspace, 'crash'), '')
  const crashed = await finish([{ say: 'done' }], { retry }, { workspace })
  expect(crashed.task.runs.map((run) => run.category)).toEqual(['crashed', null])
  const [one, two, ...none] = await startsIn(crashed.task)
  expect([one, two, none]).toEqual([
    expect.stringContaining('--session-id='),
    `--session-id=${await vendorIdOf(crashed.task)}`,
    [],
  ])
  expect(two).not.toBe(one)
  await rm(workspace, { recursive: true, force: true })
})

it('each run has a command of its own, so that a new conversation begins with the very run that asks for it', async () => {
  const { task } = await finish([{ say: 'one' }])
  const first = await vendorIdOf(task)
  const again = async (fresh: boolean) => {
    await daemon.runtime.retryTask(task.id, { fresh, by: 'test' })
    const count = (await daemon.runtime.getTask(task.id)).runs.length
    return until(async () => {
      const { state, runs, prompt } = await daemon.runtime.getTask(task.id)
      return state === 'completed' && runs.length >= count && runs.at(-1)?.state === 'ended' && prompt
    })
  }
  expect(await again(false)).toBe(task.prompt)
  expect(await again(true)).toBe(task.prompt)
  const second = await vendorIdOf(task)
  expect(second).not.toBe(first)
  expect(await startsIn(task)).toEqual([`--session-id=${first}`, `--resume=${first}`, `--session-id=${second}`])
})

it('a turn that takes too long is ended, says after how long, and its conversation goes on', async () => {
  const { task } = await finish([{ say: 'so far' }, { hang: true }], { timeoutMs: 5_000 })
  expect(task).toMatchObject({
    state: 'timed_out',
    reason: { kind: 'total_timeout', detail: expect.stringContaining('5 s') },
    result: { outcome: 'timed_out', text: 'so far' },
  })
  const id = await vendorIdOf(task)
  expect(id).toEqual(expect.any(String))
  await daemon.runtime.retryTask(task.id, { fresh: false, timeoutMs: 0, by: 'test' })
  const events = await eventsUntil(daemon, task.id, (event) => event.type === 'task.completed')
  expect(events.filter((event) => event.type === 'run.started').map((event) => event.data)).toMatchObject([
    { resumed: false },
    { resumed: true },
  ])
  expect(await startsIn(task)).toEqual([`--session-id=${id}`, `--resume=${id}`])
})

it('a failure is one log line: kind, message, exit code, and the end of what was said on standard error', async () => {
  const long = `${'x'.repeat(5_000)} the disk is full`
  const { task } = await finish([{ stderr: long }, { exit: 3 }])
  const line = logged.find((entry) => entry.message === 'a run ended' && entry.task === task.id)
  expect(line).toMatchObject({
    outcome: 'failed',
    category: 'exit_code',
    exitCode: 3,
    detail: expect.stringContaining('Exit code 3: '),
  })
  expect(line?.stderr).toMatch(/^\(\d+ more characters\) … x+ the disk is full$/)
  expect(String(line?.stderr).length).toBeLessThan(4_096 + 40)
})

it('a role is a template with what holds for the run, the one of the task before the one of the agent', async () => {
  const prompts = join(home.path, 'prompts')
  await mkdir(prompts, { recursive: true })
  await writeFile(
    join(prompts, 'reviewer.md'),
    'You are a {{role}} on {{model}} in {{workspace}}, session {{session}}, under {{profile}}.\n{{#deny}}Never: {{deny}}\n{{/deny}}{{^ssh}}No machine but this one.{{/ssh}}',
  )
  await writeFile(join(prompts, 'writer.md'), 'You are a writer.')
  await writeFile(join(prompts, 'silent.md'), '{{#ssh}}only with ssh{{/ssh}}')
  await writeFile(join(prompts, 'wrong.md'), 'You are {{rolle}}.')
  const promptOf = async (changes: Partial<ResolvedAgent>, task: Partial<NewTask>) => {
    const { task: done } = await finish([{ say: 'done' }], changes, task)
    return {
      done,
      text: await readFile(join(home.path, 'sessions', done.session, '.pawl-system-prompt.txt'), 'utf8').catch(() => ''),
    }
  }
  const rendered = await promptOf(
    { role: 'writer', systemPrompt: 'And be kind.' },
    { role: 'reviewer', disallowedTools: ['Bash'] },
  )
  expect(rendered.text).toContain(
    `You are a reviewer on a-model in ${rendered.done.workspace}, session ${rendered.done.session}, under guarded.\nNever: `,
  )
  expect(rendered.text).toMatch(/Never: .*Bash.*No machine but this one\.\n\nAnd be kind\./s)
  expect((await promptOf({ role: 'writer' }, {})).text).toMatch(/^You are a writer\./)
  const refused = async (role: string) => (await promptOf({ role }, {})).done.reason
  expect(await refused('silent')).toMatchObject({ kind: 'bad_config', detail: expect.stringContaining('comes out empty') })
  expect(await refused('wrong')).toMatchObject({
    kind: 'bad_config',
    detail: expect.stringContaining('{{rolle}}, which there is none of'),
  })
  await expect(finish([{ say: 'x' }], {}, { role: 'nobody' })).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringContaining('prompts/nobody.md) does not exist'),
  })
})

it('a task is put into a template with where it works and its context, before anything is made', async () => {
  const folder = join(home.path, 'prompts/tasks')
  await mkdir(folder, { recursive: true })
  await writeFile(join(folder, 'fix.md'), 'In {{workspace}}: {{task}}{{#hasContext}}\nKnow: {{context}}{{/hasContext}}')
  await writeFile(join(folder, 'empty.md'), '{{#hasContext}}x{{/hasContext}}')
  const make = async (task: Partial<NewTask>) =>
    (await daemon.runtime.createTask({ prompt: 'mend it', agentConfig: agent(), ...task }, { by: 'test' })).task
  const plain = await make({ template: 'fix' })
  expect(plain.prompt).toBe(`In ${plain.workspace}: mend it`)
  // What is put in is not read again.
  expect((await make({ template: 'fix', context: 'it {{role}} broke' })).prompt).toMatch(
    /: mend it\nKnow: it \{\{role\}\} broke$/,
  )
  for (const [task, sentence] of [
    [{ template: 'fix', prompt: '  ' }, 'The task is empty'],
    [{ template: 'none' }, 'does not exist'],
    [{ template: 'empty' }, 'comes out empty'],
    [{ context: 'x' }, 'name one (--template)'],
  ] as const)
    await expect(make(task)).rejects.toMatchObject({ code: 'invalid', message: expect.stringContaining(sentence) })
})

it('the configured system prompt stands in for a file that is gone, and a file that is there is read for each run', async () => {
  const file = join(folder, 'prompt.md')
  const changes = { systemPrompt: 'from the settings', systemPromptFile: file }
  const promptOf = async () => {
    const { task } = await finish([{ say: 'done' }], changes)
    return readFile(join(home.path, 'sessions', task.session, '.pawl-system-prompt.txt'), 'utf8')
  }
  expect(await promptOf()).toMatch(/^from the settings(\n\n|$)/)
  await writeFile(file, 'from the file')
  expect(await promptOf()).toMatch(/^from the file(\n\n|$)/)
  await writeFile(file, 'from the file, changed')
  expect(await promptOf()).toMatch(/^from the file, changed(\n\n|$)/)
})
