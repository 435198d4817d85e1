import { existsSync, readFileSync } from 'node:fs'
import { mkdir, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import type { Profile } from '../../src/domain/profile/profile.ts'
import { eventsUntil } from '../engine/home.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

const [claude, codex] = programs as [Program, Program]
const { strict } = builtinProfiles
const mine = (changes: Partial<Profile>): Pick<ResolvedAgent, 'profile' | 'rights'> => ({
  profile: 'mine',
  rights: { ...strict, name: 'mine', ...changes },
})

/** What the model was offered in the last request, and what it was told. */
function lastRequest() {
  const body = machine.models.requests.at(-1)?.body as { tools?: { name: string }[]; system?: unknown }
  return { names: (body.tools ?? []).map(({ name }) => name), text: JSON.stringify(body) }
}

test('the real claude works under strict with our tools, and a person is asked about its commands', async () => {
  const workspace = await machine.workspace()
  const agentConfig = machine.agent(claude, 'strict-tools', { profile: 'strict' })
  const { task } = await machine.run({ agentConfig, workspace })
  expect(task).toMatchObject({
    state: 'blocked',
    questions: [{ kind: 'permission', text: expect.stringContaining('Bash(cat notes.txt') }],
  })
  expect(readFileSync(join(workspace, 'notes.txt'), 'utf8')).toBe('hello from the tool\n')
  expect(existsSync(join(workspace, 'shell.txt'))).toBe(false)
  const { names, text } = lastRequest()
  expect(names).toEqual(expect.arrayContaining(['mcp__pawl__Bash', 'mcp__pawl__Read', 'mcp__pawl__Write', 'mcp__pawl__ask_user']))
  expect(names.filter((name) => !name.startsWith('mcp__pawl__'))).toEqual([])
  expect(text).not.toContain('instructions of the repository')

  await machine.daemon.runtime.answerQuestion(task.questions[0]!.id, 'Allow once', { by: 'test' })
  await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', 45_000)
  expect((await machine.daemon.runtime.getTask(task.id)).result?.text).toContain('Done: hello from the tool')
  expect(readFileSync(join(workspace, 'shell.txt'), 'utf8')).toBe('by-the-shell\n')
})

test('a tool of its own that the real claude is not offered does nothing if the model calls it all the same', async () => {
  const workspace = await machine.workspace()
  const { task } = await machine.run({ agentConfig: machine.agent(claude, 'tool', { profile: 'strict' }), workspace })
  expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(false)
  expect(task.result?.text).toMatch(/no such tool|not available|Bash/i)
})

test('the real claude is told the policy when a rule denies a call, and is ended after the third', async () => {
  const workspace = await machine.workspace()
  const rights = mine({ rules: { ...strict.rules, deny: ['Write(private/**)'] } })
  const { task, events } = await machine.run({ agentConfig: machine.agent(claude, 'strict-denied', rights), workspace })
  expect(task.runs.map(({ outcome }) => outcome)).toEqual(['denied'])
  const returned = events.flatMap((event) => (event.type === 'agent.tool_returned' ? [event.data] : []))
  expect(returned[0]).toMatchObject({
    isError: true,
    output: expect.stringMatching(/Write\(private\/\*\*\).*Sandbox policy: file sandboxing is on/s),
  })
  expect(existsSync(join(workspace, 'private'))).toBe(false)
})

test('the real claude answers by a schema though it has no tools of its own', async () => {
  const outputSchema = { type: 'object', properties: { answer: { type: 'integer' } }, required: ['answer'] }
  const { task } = await machine.run({ agentConfig: machine.agent(claude, 'structured', { profile: 'strict' }), outputSchema })
  expect(task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('42') } })
})

test("a subagent of the real claude has our tools, and of the program's own none but that for subagents", async () => {
  await mkdir(join(machine.home, 'subagents'), { recursive: true })
  await writeFile(
    join(machine.home, 'subagents/helper.md'),
    '---\ndescription: Does a part.\n---\nYou are the helper of this test.\n',
  )
  const agentConfig = machine.agent(claude, 'subagent', mine({ subagents: ['helper'] }))
  const { task } = await machine.run({ agentConfig })
  expect(task.state).toBe('completed')
  const key = /@([\w-]+)/.exec(agentConfig.baseUrl!)![1]!
  const offered = machine.models.requestsOf(key).map(({ body }) => ({
    isHelper: JSON.stringify((body as { system?: unknown }).system ?? '').includes('You are the helper of this test.'),
    names: ((body as { tools?: { name: string }[] }).tools ?? []).map(({ name }) => name),
  }))
  const helper = offered.find(({ isHelper }) => isHelper)
  expect(helper?.names).toEqual(expect.arrayContaining(['mcp__pawl__Bash', 'mcp__pawl__Read']))
  expect(helper?.names.filter((name) => !name.startsWith('mcp__pawl__'))).toEqual(['Agent'])
})

test('the real codex is refused under strict in a sentence, and searches nothing where that is disabled', async () => {
  const refused = await machine.run({ agentConfig: machine.agent(codex, 'text', { profile: 'strict' }) })
  expect(refused.task).toMatchObject({ state: 'failed', reason: { kind: 'bad_config' } })
  const rights = mine({ ...builtinProfiles.guarded, name: 'mine', tools: { native: true, disabled: ['WebSearch', 'Bash'] } })
  const { task } = await machine.run({ agentConfig: machine.agent(codex, 'text', rights) })
  expect(task.state).toBe('completed')
  const { names } = lastRequest()
  expect(names).toEqual(expect.arrayContaining(['mcp__pawl']))
  for (const gone of ['exec_command', 'shell', 'web_search']) expect(names).not.toContain(gone)
})

test('the real codex works on top of strict with its own tools left on, and a person is asked about its commands', async () => {
  const workspace = await machine.workspace()
  const rights = mine({ tools: { ...strict.tools, native: true } })
  const { task } = await machine.run({ agentConfig: machine.agent(codex, 'tool', rights), workspace })
  expect(task).toMatchObject({
    state: 'blocked',
    questions: [{ kind: 'permission', text: expect.stringContaining('tool-out.txt') }],
  })
  expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(false)
  const { names, text } = lastRequest()
  expect(names.filter((name) => /search/i.test(name ?? ''))).toEqual([])
  expect(text).not.toContain('instructions of the repository')
  await machine.daemon.runtime.answerQuestion(task.questions[0]!.id, 'Allow once', { by: 'test' })
  await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', 45_000)
  expect(readFileSync(join(workspace, 'tool-out.txt'), 'utf8')).toBe('scripted-tool\n')
})
