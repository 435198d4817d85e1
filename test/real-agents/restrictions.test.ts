import { chmodSync, mkdtempSync, readdirSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { eventsUntil } from '../engine/home.ts'
import { type Machine, type Program, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

const each = programs.map((program) => [program.agent, program] as const)
const [claude] = programs as [Program, Program]
const bodyOf = (index: number) => JSON.stringify(machine.models.requests.at(index)?.body)
/** What the model could call, by name, whatever the wire format. */
const offered = (body: string) => {
  const { tools = [] } = JSON.parse(body) as { tools?: { name?: string; function?: { name: string } }[] }
  return tools.map((tool) => tool.name ?? tool.function?.name ?? '')
}
const shells = ['Bash', 'shell', 'exec_command', 'shell_command', 'local_shell']

test.each(each)('the real %s has no shell when the task takes it away, at first and when it goes on', async (_, program) => {
  const workspace = await machine.workspace()
  const agentConfig = machine.agent(program, 'text')
  const first = await machine.run({
    ...{ agentConfig, workspace, skipPlanning: true, disallowedTools: ['Bash'] },
    appendSystemPrompt: 'ALWAYS-SAY-THE-WORD',
  })
  expect(first.task.state).toBe('completed')
  const before = bodyOf(-1)
  await machine.daemon.runtime.retryTask(first.task.id, { by: 'test' })
  const events = await eventsUntil(
    machine.daemon,
    first.task.id,
    (event) => event.type === 'run.started' && event.data.resumed,
    45_000,
  )
  await eventsUntil(
    machine.daemon,
    first.task.id,
    (event) => event.type === 'task.completed' && event.seq > events.length,
    45_000,
  )
  const after = bodyOf(-1)
  expect(after).not.toBe(before)
  for (const body of [before, after]) {
    expect(offered(body).filter((name) => shells.includes(name))).toEqual([])
    expect(offered(body).length).toBeGreaterThan(0)
    expect(body).toContain('ALWAYS-SAY-THE-WORD')
  }
})

test('the real claude reads a folder that the task names, and cannot write to it', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-context-'))
  writeFileSync(join(folder, 'secret.txt'), 'what-the-docs-say', { mode: 0o644 })
  const workspace = await machine.workspace()
  const command = `cat ${folder}/secret.txt; touch ${folder}/mine && echo WRITTEN`
  const run = (contextDirs: string[]) =>
    machine.run({
      agentConfig: machine.agent(claude, 'shell'),
      workspace,
      prompt: `\`${command}\``,
      skipPlanning: true,
      contextDirs,
    })
  chmodSync(folder, 0o777)
  const seen = (await run([folder])).task.result?.text
  expect(seen).toContain('what-the-docs-say')
  expect(seen).not.toContain('WRITTEN')
  expect((await run([])).task.result?.text).not.toContain('what-the-docs-say')
  rmSync(folder, { recursive: true })
})

test.each(each)('the real %s finds a prompt of a megabyte in a file, and the workspace stays as it was', async (_, program) => {
  const workspace = await machine.workspace()
  const prompt = `Sum this up.\n${'a line of material\n'.repeat(55_000)}THE-LAST-LINE`
  const { task } = await machine.run({ agentConfig: machine.agent(program, 'text'), workspace, prompt, skipPlanning: true })
  expect(task.state).toBe('completed')
  expect(task.prompt).toBe(prompt)
  const body = bodyOf(-1)
  expect(body.length).toBeLessThan(400_000)
  const file = /file (\/[^ ]+\/\.pawl-prompts\/t_[0-9a-z]+\.md)/.exec(body)?.[1]
  expect(file).toContain(task.session)
  expect(readFileSync(file!, 'utf8')).toBe(prompt)
  expect(readdirSync(workspace)).toEqual([])
})
