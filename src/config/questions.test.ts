import { expect, test } from 'vitest'
import { showConfig } from './show.ts'
import { Machine } from './testing.ts'

test('what holds for questions is read, shown, and has defaults', async () => {
  using machine = new Machine()
  expect((await machine.load()).questions).toEqual({
    afterDeadline: { kind: 'deny' },
    liveWindowMs: 20_000,
    grantsLastMs: 7 * 86_400_000,
  })
  machine.write(
    machine.homeFile,
    'questions: { deadline: 2d, afterDeadline: { escalate: { agent: demo } }, mayAnswer: [alice, "role:admin"], liveWindow: 0 }\n',
  )
  const config = await machine.load()
  expect(config.questions).toEqual({
    deadlineMs: 2 * 86_400_000,
    afterDeadline: { kind: 'escalate', agent: 'demo' },
    mayAnswer: ['alice', 'role:admin'],
    liveWindowMs: 0,
    grantsLastMs: 7 * 86_400_000,
  })
  const rows = new Map(showConfig(config).map(({ path, value }) => [path, value]))
  expect([rows.get('questions.deadline'), rows.get('questions.liveWindow'), rows.get('questions.grantsLast')]).toEqual([
    '2d',
    '0',
    '7d',
  ])
})

test.for([
  ['{ proceed: "use the defaults" }', { kind: 'proceed', answer: 'use the defaults' }],
  ['fail', { kind: 'fail' }],
])('after the deadline: %s', async ([written, meant]) => {
  using machine = new Machine()
  machine.write(machine.homeFile, `questions: { afterDeadline: ${written} }\n`)
  expect((await machine.load()).questions.afterDeadline).toEqual(meant)
})

test.for([
  ['{ escalate: { agent: dmo } }', 'names an agent "dmo", which does not exist'],
  ['{ escalate: { webhook: pager } }', 'names a notification "pager", which does not exist'],
  ['{ escalate: {} }', 'must name an agent or a webhook'],
  ['sleep', 'must be deny, fail, { proceed: the answer }'],
])('what cannot be done after the deadline is refused: %s', async ([written, sentence]) => {
  using machine = new Machine()
  machine.write(machine.homeFile, `questions: { afterDeadline: ${written} }\n`)
  await expect(machine.load()).rejects.toThrow(sentence)
})

test('a role that there is not may not answer', async () => {
  using machine = new Machine()
  machine.write(machine.homeFile, 'questions: { mayAnswer: [alice, "role:admn"] }\n')
  await expect(machine.load()).rejects.toThrow('must be the name of a user, or role:viewer, role:operator, role:admin')
})

test('a project that nobody trusts decides nothing about questions', async () => {
  using machine = new Machine()
  machine.write(machine.projectFile, 'questions: { deadline: 1s, afterDeadline: { proceed: "yes" } }\n')
  const config = await machine.load()
  expect(config.questions.deadlineMs).toBeUndefined()
  expect(config.untrusted?.keys).toEqual(['questions.deadline', 'questions.afterDeadline'])
})
