import { afterAll, beforeAll, expect, it } from 'vitest'
import { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { Standing } from '../../src/domain/auth/role.ts'
import { resolveProfile } from '../../src/domain/profile/resolve.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { findTask } from '../../src/store/tasks.ts'
import { makeVerbs } from './verbs.ts'

const agent = (name: string, profile: string, more: object = {}) =>
  ({
    ...ResolvedAgent.parse({ name, adapter: 'claude-code', profile, budget: { usd: 5 }, ...more }),
    options: {},
  }) as ResolvedAgent
const noShell = resolveProfile('no-shell', { 'no-shell': { rules: { deny: ['Bash'] } } })
const agents = [
  agent('usual', 'guarded'),
  agent('strict', 'strict'),
  agent('open', 'unattended-open'),
  agent('no-shell', 'no-shell', { rights: noShell }),
  agent('cheap', 'guarded', { budget: { usd: 1 } }),
]

let parts: Awaited<ReturnType<typeof makeVerbs>>
let close: (() => Promise<void>) | undefined
beforeAll(async () => {
  parts = await makeVerbs({
    agents,
    mayAnswer: ['role:admin'],
    onEnd: (end) => {
      close = end
    },
  })
})
afterAll(async () => close?.())

const ask = (standing: Standing, task: Partial<NewTask>) =>
  parts.verbs.createTask({ prompt: 'x', agent: 'usual', ...task }, { by: 'test', standing })
const checks = { commands: [{ run: 'npm test' }], attempts: 0 }
const allowing: Partial<NewTask> = {
  questions: { deadlineMs: 1, afterDeadline: { kind: 'proceed', answer: 'Allow for this task' } },
}

it('a hook has no commands run and answers no questions beforehand', async () => {
  await expect(ask('hook', { checks })).rejects.toThrow('may not choose "checks"')
  await expect(ask('hook', { checks: null })).rejects.toThrow('may not choose "checks"')
  await expect(ask('hook', allowing)).rejects.toThrow('may not choose "questions"')
})

it('whoever may not answer questions cannot have them answered by what the task says', async () => {
  await expect(ask('operator', allowing)).rejects.toThrow('Questions are answered by role:admin only')
  const escalating = { deadlineMs: 1, afterDeadline: { kind: 'escalate', agent: 'usual' } } as const
  await expect(ask('operator', { questions: escalating })).rejects.toMatchObject({ code: 'denied' })
  const others = { afterDeadline: { kind: 'deny' }, mayAnswer: ['role:operator'] } as const
  await expect(ask('operator', { questions: { ...others, mayAnswer: [...others.mayAnswer] } })).rejects.toThrow(
    'may not have questions answered by role:operator',
  )
  const { task } = await ask('operator', { questions: { deadlineMs: 1, afterDeadline: { kind: 'fail' } } })
  expect(task.settings.questions?.afterDeadline).toEqual({ kind: 'fail' })
  expect((await ask('admin', allowing)).task.state).toBe('queued')
})

it('the checks of an operator are commands that the profile lets the agent run', async () => {
  expect((await ask('operator', { checks })).task.settings.checks).toEqual(checks)
  // What the task takes from the agent is not taken from whoever checks it.
  expect((await ask('operator', { checks, disallowedTools: ['Bash'] })).task.settings.checks).toEqual(checks)
  await expect(ask('operator', { agent: 'no-shell', checks })).rejects.toThrow('may not have the check "npm test" run')
  await expect(ask('operator', { agent: 'strict', checks })).rejects.toThrow('ask Bash')
  expect((await ask('admin', { agent: 'no-shell', checks })).task.settings.checks).toEqual(checks)
})

it('no agent is had with wider rights than its own by giving it subtasks, nor with more money by failing over to it', async () => {
  const subtasks = { most: 1, depth: 1, budgetShare: 0.5, whenDone: 'continue' as const, agents: ['strict'] }
  await expect(ask('operator', { agent: 'open', subtasks })).rejects.toMatchObject({ code: 'denied' })
  expect((await ask('operator', { subtasks: { ...subtasks, agents: ['open'] } })).task.state).toBe('queued')
  const { task } = await ask('hook', { agent: 'cheap', failover: ['usual'] })
  expect((await findTask(parts.db, task.id))?.spec.failover?.[0]?.budget).toEqual({ usd: 1 })
  await expect(ask('hook', { failover: ['cheap'], budget: { usd: 4 } })).rejects.toThrow('may not raise budget.usd')
})
