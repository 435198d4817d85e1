import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { Event } from '../../src/domain/event/event.ts'
import { builtinProfiles } from '../../src/domain/profile/builtin.ts'
import type { Profile } from '../../src/domain/profile/profile.ts'
import { eventsUntil } from '../engine/home.ts'
import { acpPrograms, type Machine, type Program, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

/** In a mode in which it asks before it runs a command, under these rules. */
function asking(program: Program<string>, rules: Partial<Profile['rules']>): ResolvedAgent {
  const { guarded } = builtinProfiles
  const rights = { ...guarded, name: 'mine', rules: { ...guarded.rules, ...rules } }
  const config = machine.agent(program, 'tool', { profile: 'mine', rights })
  return { ...config, options: { ...config.options, mode: 'default' } }
}
const told = (events: readonly Event[], type: string) => events.filter((event) => event.type === type).map(({ data }) => data)

/** In the other one asking and its own walls are one setting, and its walls cannot stand inside ours. */
const askers = acpPrograms.filter(({ agent }) => agent !== 'codex-acp')

test.each(askers)('$agent does not do what a rule denies, and goes on', async (program) => {
  const workspace = await machine.workspace()
  const agentConfig = asking(program, { deny: ['Bash(echo:*)'] })
  const { task, events } = await machine.run({ agentConfig, workspace })
  expect(told(events, 'permission.decided')).toMatchObject([{ verdict: 'denied', rule: 'Bash(echo:*)' }])
  expect(task.state).toBe('completed')
  expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(false)
})

test.each(askers)('$agent waits for a person where a rule says ask, and does it after a yes', async (program) => {
  const workspace = await machine.workspace()
  const agentConfig = asking(program, { ask: ['Bash(cat:*)'] })
  const { task } = await machine.run({ agentConfig, workspace })
  expect(task).toMatchObject({ state: 'blocked', questions: [{ kind: 'permission' }] })
  expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(false)
  const [question] = task.questions
  await machine.daemon.runtime.answerQuestion(question!.id, question!.options[0]!, { by: 'test' })
  await eventsUntil(machine.daemon, task.id, (event) => event.type === 'task.completed', 45_000)
  expect(existsSync(join(workspace, 'tool-out.txt'))).toBe(true)
})
