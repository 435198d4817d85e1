import { existsSync, readFileSync } from 'node:fs'
import { chmod, mkdtemp, readFile, rm, writeFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { TestClock } from 'pg-boss'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { processesOf } from '../../src/sandbox/process/tree.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine, until } from './home.ts'
import { HandClock } from './test-clock.ts'

const minute = 60_000
const hour = 60 * minute

/**
 * Speaks Claude Code's stream-json. "build" makes a tool call that returns when the file `finish` is there; "stall" says nothing until then. Every prompt is written
 * down, and an earlier conversation that is gone on with answers at once if it is told to go on.
 */
const program = `
const fs = require('node:fs'), readline = require('node:readline')
if (process.argv.includes('--version')) { console.log('2.1.325 (Claude Code)'); process.exit() }
const print = (line) => console.log(JSON.stringify(line))
const valueOf = (name) => process.argv.find((one) => one.startsWith(name + '='))?.slice(name.length + 1)
const session = valueOf('--resume') ?? valueOf('--session-id')
const say = (text) => print({ type: 'assistant', message: { id: 'm' + Math.random(), role: 'assistant', content: [{ type: 'text', text }] } })
const call = { type: 'tool_use', id: 'call-1', name: 'Bash', input: { command: 'make world' } }
const finished = () => new Promise((done) => { const look = setInterval(() => { if (fs.existsSync('finish')) { clearInterval(look); done() } }, 20) })
readline.createInterface({ input: process.stdin }).on('line', async (text) => {
  const message = JSON.parse(text)
  if (message.type === 'control_request')
    print({ type: 'control_response', response: { subtype: 'success', request_id: message.request_id, response: {} } })
  if (message.type !== 'user') return
  const prompt = message.message.content.at(-1).text
  fs.appendFileSync('prompts', JSON.stringify({ prompt, resumed: valueOf('--resume') !== undefined }) + '\\n')
  const chats = process.env.HOME + '/.claude/projects/-work'
  fs.mkdirSync(chats, { recursive: true })
  fs.appendFileSync(chats + '/' + session + '.jsonl', JSON.stringify({ type: 'user', sessionId: session, message: { role: 'user', content: prompt } }) + '\\n')
  print({ type: 'system', subtype: 'init', session_id: session })
  if (/wants you to go on/.test(prompt)) say('went on')
  else {
    if (/build/.test(prompt)) print({ type: 'assistant', message: { id: 'm1', role: 'assistant', content: [call] } })
    fs.writeFileSync('started', '')
    await finished()
    if (/build/.test(prompt))
      print({ type: 'user', message: { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'call-1', content: 'built' }] } })
    say('built')
  }
  print({ type: 'result', subtype: 'success', is_error: false, num_turns: 1, result: 'done', session_id: session, total_cost_usd: 0, usage: {} })
}).on('close', () => process.exit())
`

let home: Awaited<ReturnType<typeof makeHome>>
let folder: string
beforeAll(async () => {
  folder = await mkdtemp(join(tmpdir(), 'pawl-long-work-'))
  await chmod(folder, 0o755)
  await writeFile(join(folder, 'claude'), `#!/bin/sh\nexec "${process.execPath}" "${folder}/program.cjs" "$@"\n`, { mode: 0o755 })
  await writeFile(join(folder, 'program.cjs'), program)
  home = await makeHome()
  await writeFile(join(home.path, 'config.yaml'), 'timeouts: { warm: 0 }\n')
})
afterAll(async () => {
  await home.remove()
  await rm(folder, { recursive: true, force: true })
})

/** With the limits that hold if nobody says otherwise. */
const agent = (changes: Partial<ResolvedAgent> = {}) =>
  ResolvedAgent.parse({
    name: 'helper',
    adapter: 'claude-code',
    model: 'a-model',
    options: { command: join(folder, 'claude') },
    env: { pass: [], set: { ANTHROPIC_API_KEY: 'key-0123456789' } },
    gateway: false,
    graceMs: 1_000,
    retry: { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 60_000 },
    ...changes,
  })
const promptsIn = async ({ workspace }: { workspace: string }) =>
  (await readFile(join(workspace, 'prompts'), 'utf8'))
    .trim()
    .split('\n')
    .map((line) => JSON.parse(line) as { prompt: string; resumed: boolean })

describe('hours of work', { timeout: 90_000 }, () => {
  let clock: HandClock
  let queueClock: TestClock
  let daemon: Daemon
  beforeAll(async () => {
    clock = new HandClock()
    queueClock = new TestClock(clock.now())
    daemon = await startEngine(home.path, { clock, queueClock })
  })
  afterAll(() => daemon.stop())

  const start = async (prompt: string, changes: Partial<ResolvedAgent> = {}) => {
    const { task } = await daemon.runtime.createTask({ prompt, agentConfig: agent(changes) }, { by: 'test' })
    await until(() => existsSync(join(task.workspace, 'started')))
    // Time must not pass before what it has printed is read.
    await until(async () => (await viewOf(task.id)).activity?.kind === (prompt === 'build' ? 'tool' : 'working'))
    return task
  }
  /** Time passes for us and for the queue, until something holds or all of it is gone. */
  const pass = async (ms: number, isOver: () => Promise<boolean> = async () => false, stepMs = minute) => {
    for (let gone = 0; gone < ms && !(await isOver()); gone += stepMs) {
      clock.sleep(stepMs)
      await queueClock.setTime(clock.now())
      await queueClock.tick(1)
      await new Promise((done) => setTimeout(done, 5))
      await daemon.runtime.ready()
    }
  }
  const viewOf = (id: string) => daemon.runtime.getTask(id)
  const isIn = (id: string, state: string) => async () => (await viewOf(id)).state === state

  it('a build of ninety minutes ends as it would on a terminal, and says meanwhile what it is doing', async () => {
    const task = await start('build')
    const since = clock.now()
    await pass(90 * minute, undefined, 10 * minute)
    const { activity } = await viewOf(task.id)
    expect(activity).toMatchObject({ kind: 'tool', name: 'Bash' })
    expect(Math.abs(Date.parse(activity!.since) - since)).toBeLessThan(10_000)
    await writeFile(join(task.workspace, 'finish'), '')
    await eventsUntil(daemon, task.id, isResting)
    expect(await viewOf(task.id)).toMatchObject({ state: 'completed', activity: null, runs: [{ outcome: 'succeeded' }] })
  })

  it('a stalled program is tried again in its conversation, and reported with what was seen last', async () => {
    const task = await start('stall')
    await pass(hour, isIn(task.id, 'timed_out'), 20_000)
    const { state, reason, runs } = await viewOf(task.id)
    expect([state, reason?.kind, runs.map(({ category }) => category)]).toEqual([
      'timed_out',
      'idle_timeout',
      ['idle_timeout', 'idle_timeout', 'idle_timeout'],
    ])
    expect(reason?.detail).toMatch(/^The agent said nothing for 5 min\. Last seen: session; no tool call was open\./)
    expect((await promptsIn(task)).map(({ resumed }) => resumed)).toEqual([false, true, true])
    const events = await daemon.runtime.readEvents(task.id, { after: 0, limit: 1_000 })
    const why = events.flatMap((event) => (event.type === 'task.requeued' || event.type === 'task.parked' ? [event.type] : []))
    expect(why.slice(0, 2)).toEqual(['task.requeued', 'task.parked'])
  })

  /** A call that has been open for four hours, and what has become of its task. */
  async function endless(): Promise<{ id: string; workspace: string; question: string }> {
    const task = await start('build')
    await pass(4 * hour - 10 * minute, undefined, 10 * minute)
    expect((await viewOf(task.id)).state).toBe('running')
    await pass(hour, isIn(task.id, 'blocked'))
    const { state, questions, runs } = await viewOf(task.id)
    expect([state, runs.map(({ outcome }) => outcome)]).toEqual(['blocked', ['blocked']])
    expect(questions).toMatchObject([{ kind: 'go_on', state: 'pending', options: ['Go on', 'Stop'] }])
    expect(questions[0]!.text).toBe(
      'A tool call of this task has been open for more than 4 hours and has not returned (Bash: make world). May the agent go on?',
    )
    const unit = { kind: 'pid_namespace', marker: `${runs[0]!.id}.1`, enforced: true } as const
    expect(await processesOf(unit)).toEqual([])
    return { ...task, question: questions[0]!.id }
  }

  it('a call of five hours is asked about after four, and "go on" goes on in the same conversation', async () => {
    const { id, question, workspace } = await endless()
    await daemon.runtime.answerQuestion(question, { options: [1] }, { by: 'ann' })
    await until(isIn(id, 'completed'))
    const [first, second] = await promptsIn({ workspace })
    expect([first, second]).toMatchObject([{ resumed: false }, { resumed: true }])
    expect(second!.prompt).toMatch(/has been open for more than 4 hours.*A person wants you to go on\./s)
  })

  it('"stop" ends it, and so does nobody who answers in time', async () => {
    const { id, question } = await endless()
    await daemon.runtime.answerQuestion(question, 'stop', { by: 'ann' })
    expect(await viewOf(id)).toMatchObject({ state: 'cancelled' })
    const { task } = await daemon.runtime.createTask(
      { prompt: 'build', agentConfig: agent(), questions: { deadlineMs: hour, afterDeadline: { kind: 'deny' } } },
      { by: 'test' },
    )
    await until(async () => (await viewOf(task.id)).activity?.kind === 'tool')
    await pass(8 * hour, isIn(task.id, 'cancelled'), 10 * minute)
    expect(await viewOf(task.id)).toMatchObject({ state: 'cancelled', questions: [{ answer: 'Stop', answeredBy: 'deadline' }] })
  })

  it('whoever allows more silence than four hours allows it of calls, too', async () => {
    const task = await start('build', { idleTimeoutMs: 8 * hour })
    await pass(6 * hour, undefined, 10 * minute)
    expect((await viewOf(task.id)).state).toBe('running')
    await writeFile(join(task.workspace, 'finish'), '')
    await until(isIn(task.id, 'completed'))
  })
})

describe('a plain script', { timeout: 60_000 }, () => {
  let daemon: Daemon
  beforeAll(async () => {
    daemon = await startEngine(home.path)
  })
  afterAll(() => daemon.stop())

  const finish = async (script: string, changes: Partial<ResolvedAgent>) => {
    const agentConfig = commandAgent(['/bin/sh', '-c', script], { idleTimeoutMs: 2_000, graceMs: 0, ...changes })
    const { task } = await daemon.runtime.createTask({ prompt: 'x', agentConfig }, { by: 'test' })
    const seen: string[] = []
    await until(async () => {
      const { state, activity } = await daemon.runtime.getTask(task.id)
      if (activity && activity.kind !== seen.at(-1)) seen.push(activity.kind)
      return state !== 'running' && state !== 'queued'
    }, 40_000)
    return { task: await daemon.runtime.getTask(task.id), seen, text: () => readFileSync(join(task.workspace, 'ids'), 'utf8') }
  }

  it('that is silent but uses the CPU is not ended at the idle limit', async () => {
    const burn =
      'end=$(($(date +%s) + 8)); while [ $(date +%s) -lt $end ]; do j=0; while [ $j -lt 30000 ]; do j=$((j+1)); done; done; echo burnt'
    const { task } = await finish(burn, {})
    expect(task).toMatchObject({ state: 'completed', result: { text: 'burnt' }, runs: [{ outcome: 'succeeded' }] })
  })

  it('that sleeps is tried again in its conversation, and then reported', async () => {
    const script = 'echo "$1 $2" >> ids; echo kept > ~/.agent; echo "session id: s-1"; sleep 600'
    const options = {
      command: ['/bin/sh', '-c', script, 'agent'],
      sessionId: { pattern: '^session id: (\\S+)$', stream: 'stdout', at: 'start' },
      resume: ['--resume', '{session}'],
    }
    const { task, text } = await finish('', { options, retry: { attempts: 2, baseDelayMs: 10, maxDelayMs: 20 } })
    expect(task).toMatchObject({ state: 'timed_out', reason: { kind: 'idle_timeout' } })
    expect(task.reason?.detail).toContain('Last seen: message; no tool call was open.')
    expect(task.runs.map(({ category }) => category)).toEqual(['idle_timeout', 'idle_timeout'])
    expect(text()).toBe(' \n--resume s-1\n')
  })
})
