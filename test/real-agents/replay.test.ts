import { readdirSync, readFileSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { serveRecording } from '../../src/gateway/recordings/model-server.ts'
import { readRecording } from '../../src/gateway/recordings/read.ts'
import { eventsUntil, isResting } from '../engine/home.ts'
import { startModelServer } from '../model-server/server.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

const [claude] = programs as [Program, Program]
const by = { by: 'test' }

/** A recorded run that used a tool, in a workspace with a file. */
async function recorded(
  program: Program,
  { scenario = 'tool-twice', prompt = 'first message', base = machine.models.base(scenario, `replay-${++count}`) } = {},
) {
  const workspace = await machine.workspace()
  await writeFile(join(workspace, 'notes.txt'), 'as it was\n')
  const agentConfig = machine.agent(program, scenario, { baseUrl: `${base}${program.api}` })
  const { task } = await machine.run({ agentConfig, workspace, prompt, record: true })
  expect(task).toMatchObject({ state: 'completed' })
  return { task, run: task.runs[0]!.id, workspace, agentConfig }
}
let count = 0
/** One such run of each program, for all that only look at it. */
const shared = new Map<string, ReturnType<typeof recorded>>()
function onceRecorded(program: Program) {
  const run = shared.get(program.agent) ?? recorded(program)
  shared.set(program.agent, run)
  return run
}

async function rested(id: string) {
  const events = await eventsUntil(machine.daemon, id, isResting, 45_000)
  return { task: await machine.daemon.runtime.getTask(id), events }
}

describe.each(programs)('the real $agent', (program) => {
  test('does once more what it did, with its provider gone and without paying', async () => {
    const provider = await startModelServer()
    const { run, workspace, task: first } = await recorded(program, { base: provider.base('tool-twice', 'gone') })
    await provider.close()
    await writeFile(join(workspace, 'notes.txt'), 'changed since\n')
    const { runtime } = machine.daemon
    const replay = await runtime.replayRun(run, {}, by)
    const { task, events } = await rested(replay.id)
    const report = await runtime.getReplay(replay.id)
    expect(report.says).toMatch(/^Identical/)
    expect(report).toMatchObject({ identical: true, of: run, divergence: null, costUsd: 0, calls: { live: 0, missing: [] } })
    expect(report.calls.replayed).toBeGreaterThanOrEqual(3)
    expect(report.events.recorded).toBeGreaterThan(4)
    expect(task.result?.text).toBe(first.result?.text)
    expect(events.filter(({ type }) => type === 'model.called')).toEqual([])
    expect(task.workspace).not.toBe(workspace)
    expect(readFileSync(join(task.workspace, 'notes.txt'), 'utf8')).toBe('as it was\n')
  })

  test('is told where it leaves the recording when it is told something else', async () => {
    const { run } = await onceRecorded(program)
    const { runtime } = machine.daemon
    const replay = await runtime.replayRun(run, { prompt: 'another message' }, by)
    const { task } = await rested(replay.id)
    expect(task.state).toBe('failed')
    const report = await runtime.getReplay(replay.id)
    expect(report).toMatchObject({ identical: false, costUsd: 0, divergence: { call: 1 } })
    expect(report.divergence?.recorded).toContain('first message')
    expect(report.divergence?.asked).toContain('another message')
    expect(report.says).toContain('call 1')
  })
})

test('outside walls, where the copy is seen under another path, it is the same all the same', async () => {
  const agentConfig = machine.agent(claude, 'text', { profile: 'unattended-open' })
  const { task } = await machine.run({ agentConfig, workspace: await machine.workspace(), record: true })
  const { runtime } = machine.daemon
  const replay = await runtime.replayRun(task.runs[0]!.id, {}, by)
  await rested(replay.id)
  expect(await runtime.getReplay(replay.id)).toMatchObject({ identical: true })
})

test('a tool that says something else is told at the call after it', async () => {
  const { run } = await recorded(claude, { scenario: 'shell', prompt: 'Run `od -An -N9 -td1 /dev/urandom`' })
  const { runtime } = machine.daemon
  const replay = await runtime.replayRun(run, {}, by)
  await rested(replay.id)
  const report = await runtime.getReplay(replay.id)
  expect(report).toMatchObject({ identical: false, calls: { replayed: 1, live: 0 }, divergence: { call: 2 }, costUsd: 0 })
  expect(report.divergence?.at).toMatch(/^messages\[2\]\.content/)
})

test('the calls after --until go to the provider and are paid', async () => {
  const { run, agentConfig } = await onceRecorded(claude)
  const key = /@([\w-]+)/.exec(agentConfig.baseUrl!)![1]!
  const before = machine.models.requestsOf(key).filter(({ wire }) => wire !== undefined).length
  const { runtime } = machine.daemon
  const last = (await runtime.getRecording(run)).items.at(-1)!.number
  const replay = await runtime.replayRun(run, { until: last - 1 }, by)
  const { task } = await rested(replay.id)
  expect(task.state).toBe('completed')
  expect(await runtime.getReplay(replay.id)).toMatchObject({ calls: { replayed: last - 1, live: 1 }, divergence: null })
  expect(machine.models.requestsOf(key).filter(({ wire }) => wire !== undefined)).toHaveLength(before + 1)
  expect(task.cost.usd).toBeGreaterThan(0)
})

test('another model goes on from a call of a recorded run', async () => {
  const { run, agentConfig } = await onceRecorded(claude)
  const key = /@([\w-]+)/.exec(agentConfig.baseUrl!)![1]!
  const { runtime } = machine.daemon
  const { items } = await runtime.getRecording(run)
  const fork = await runtime.forkRun(run, { at: items.length, model: 'claude-haiku-4-5', budget: { usd: 1 } }, by)
  const { task } = await rested(fork.id)
  expect(task).toMatchObject({ state: 'completed', settings: { model: 'claude-haiku-4-5', replay: { run } } })
  const asked = machine.models.requestsOf(key).filter(({ wire }) => wire !== undefined)
  expect(asked.at(-1)?.body).toMatchObject({ model: 'claude-haiku-4-5' })
  expect(asked.slice(0, -1).map(({ body }) => (body as { model?: string }).model)).not.toContain('claude-haiku-4-5')
})

test('a run that went on with a conversation is replayed with that conversation', async () => {
  const { task: first, agentConfig } = await recorded(claude, { scenario: 'echo-history' })
  const { task: second } = await machine.run({ agentConfig, session: first.session, prompt: 'second message', record: true })
  expect(second.result?.text).toContain('first message')
  const { runtime } = machine.daemon
  const replay = await runtime.replayRun(second.runs[0]!.id, {}, by)
  await rested(replay.id)
  expect(await runtime.getReplay(replay.id)).toMatchObject({ identical: true })
})

test('neither the key nor the token of the door is anywhere in a recording, nor is a secret that was said', async () => {
  const secret = 'ghp_0123456789abcdefghijABCDEFGHIJ012345'
  const prompt = `The secret is ${secret}. Run \`echo $PAWL_DOOR_TOKEN | tee token.txt; echo ${secret}\``
  const { run, agentConfig, workspace } = await recorded(claude, { scenario: 'shell', prompt })
  const folder = join(machine.home, 'recordings', run)
  const kept = readdirSync(folder, { recursive: true, withFileTypes: true })
    .filter((entry) => entry.isFile())
    .map((entry) => readFileSync(join(entry.parentPath, entry.name), 'latin1'))
    .join('\n')
  const token = readFileSync(join(workspace, 'token.txt'), 'utf8').trim()
  expect(token.length).toBeGreaterThan(20)
  expect(kept).toContain('[redacted:github token]')
  for (const hidden of [secret, token, Object.values(agentConfig.env.set)[0]!]) expect(kept.includes(hidden)).toBe(false)
  const { calls } = readRecording(await machine.daemon.runtime.exportRecording(run, by), run)
  expect(calls.flatMap(({ headers }) => Object.keys(headers)).filter((name) => /auth|key|token/.test(name))).toEqual([])
})

test('an exported recording answers a program that asks for the same elsewhere', async () => {
  const { run, task } = await onceRecorded(claude)
  const text = await machine.daemon.runtime.exportRecording(run, by)
  expect(text).not.toContain('as it was')
  const workspace = await machine.workspace()
  const told: unknown[] = []
  const server = await serveRecording(readRecording(text, 'the file'), { port: 0, workspace, onCall: (call) => told.push(call) })
  const agentConfig = machine.agent(claude, 'text', { baseUrl: server.url })
  const again = await machine.run({ agentConfig, workspace, prompt: 'first message' })
  await server.close()
  expect(told).toEqual([{ call: 1 }, { call: 2 }, { call: 3 }])
  expect(again.task).toMatchObject({ state: 'completed', result: { text: task.result?.text } })
})
