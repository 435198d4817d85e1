import { existsSync } from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
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
const { guarded } = builtinProfiles
const ruled = (rules: Partial<Profile['rules']>, changes: Partial<Profile> = {}) => ({
  profile: 'mine',
  rights: { ...guarded, name: 'mine', rules: { ...guarded.rules, ...rules }, ...changes },
})
const each = programs.map((program) => [program.agent, program] as const)

/** All that the model was told. */
const told = () => JSON.stringify(machine.models.requests.at(-1)?.body)

test.each(each)('the real %s is refused a command by a rule, told why, and ended after the third', async (_, program) => {
  const workspace = await machine.workspace()
  const agentConfig = machine.agent(program, 'push-often', ruled({ deny: ['Bash(git push:*)'] }))
  const { task, events } = await machine.run({ agentConfig, workspace })
  expect(task.runs.map(({ outcome }) => outcome)).toEqual(['denied'])
  const decided = events.flatMap((event) => (event.type === 'permission.decided' ? [event.data] : []))
  expect(decided).toHaveLength(3)
  // What it said and what it cost is kept.
  expect(task).toMatchObject({
    state: 'failed',
    reason: { kind: 'permission_denied' },
    result: { text: expect.stringContaining('Pushing.') },
  })
  expect(task.result?.usage?.outputTokens).toBeGreaterThan(0)
  expect(decided[0]).toMatchObject({
    verdict: 'denied',
    rule: 'Bash(git push:*)',
    call: expect.stringMatching(/^Bash\(git push/),
  })
  expect(told()).toMatch(/The rule deny Bash\(git push:\*\) of profile .*Sandbox policy: /)
  expect(existsSync(join(workspace, 'pushed.txt'))).toBe(false)
})

test.each(each)('the real %s is blocked by a rule that asks, and goes on when a person has allowed it', async (_, program) => {
  const workspace = await machine.workspace()
  const agentConfig = machine.agent(program, 'tool', ruled({ ask: ['Bash(cat:*)'] }))
  const { task } = await machine.run({ agentConfig, workspace })
  expect(task).toMatchObject({
    state: 'blocked',
    questions: [
      { kind: 'permission', text: expect.stringContaining('Bash(echo scripted-tool > tool-out.txt && cat tool-out.txt)') },
    ],
  })
  expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(false)
  await machine.daemon.runtime.answerQuestion(task.questions[0]!.id, 'Allow once', { by: 'test' })
  await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', 45_000)
  expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(true)
})

test.each(each)('the real %s asks about commands that only look, and what no rule is about is done', async (_, program) => {
  const workspace = await machine.workspace()
  await writeFile(join(workspace, 'a.txt'), 'apples')
  const rules = ruled({ deny: ['Bash(ls:*)'] })
  const denied = await machine.run({ agentConfig: machine.agent(program, 'shell', rules), workspace, prompt: '`ls`' })
  expect(denied.events.filter((event) => event.type === 'permission.decided')).toHaveLength(1)
  const done = await machine.run({ agentConfig: machine.agent(program, 'shell', rules), workspace, prompt: '`cat a.txt`' })
  expect(done.task).toMatchObject({ state: 'completed', result: { text: expect.stringContaining('apples') } })
})

test('the real claude does not read a file that a rule denies, though it asks nobody by itself', async () => {
  const workspace = await machine.workspace()
  await writeFile(join(workspace, 'secret.txt'), 'the-hidden-word')
  const read = (rules: ReturnType<typeof ruled> | { profile: string }, scenario = 'read-secret') =>
    machine.run({ agentConfig: machine.agent(claude, scenario, rules), workspace, prompt: 'Look at @secret.txt please.' })
  expect((await read({ profile: 'guarded' })).task.result?.text).toContain('the-hidden-word')
  const { task, events } = await read(ruled({ deny: ['Read(**/secret.txt)'] }))
  expect(task.result?.text).not.toContain('the-hidden-word')
  expect(events.flatMap((event) => (event.type === 'permission.decided' ? [event.data.rule] : []))).toEqual([
    'Read(**/secret.txt)',
  ])
  expect(told()).not.toContain('the-hidden-word')
  await read(ruled({ deny: ['Read'] }))
  expect(told()).not.toContain('the-hidden-word')
})

test('options of an agent do not go past the rules', async () => {
  const rules = ruled({ deny: ['Bash(git push:*)'] })
  const allowing = machine.agent(claude, 'push-often', rules)
  const options = { ...allowing.options, allowedTools: ['Bash', 'Bash(git push:*)'] }
  const { task } = await machine.run({ agentConfig: { ...allowing, options } })
  expect(task.runs.map(({ outcome }) => outcome)).toEqual(['denied'])
  const silent = machine.agent(codex, 'tool', rules)
  for (const more of [{ approvals: 'never' }, { transport: 'exec' }]) {
    const refused = await machine.run({ agentConfig: { ...silent, options: { ...silent.options, ...more } } })
    expect(refused.task).toMatchObject({ state: 'failed', reason: { kind: 'bad_config' } })
    expect(JSON.stringify(refused.task)).toContain('deny Bash(git push:*)')
  }
})

test('the real codex cannot type into a shell that it was allowed to start', async () => {
  await machine.run({ agentConfig: machine.agent(codex, 'terminal', ruled({ deny: ['Bash(git push:*)'] })) })
  expect(told()).toContain('TTY execution is disabled')
})
