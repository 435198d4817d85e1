import { readFileSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, test } from 'vitest'
import { type Machine, programs, startMachine } from './peer.ts'

let machine: Machine
beforeAll(async () => {
  machine = await startMachine()
})
afterAll(() => machine.stop())

describe.each(programs)('the real $agent', (program) => {
  test('splits its task by our tool, agents do the parts, and it goes on with what they brought', async () => {
    const workspace = await machine.workspace()
    const agentConfig = machine.agent(program, 'subtasks')
    const { task, events } = await machine.run(
      { agentConfig, workspace, skipPlanning: false },
      (event) => event.type === 'task.completed' || event.type === 'task.failed',
    )
    expect(task.state).toBe('completed')
    expect(task.runs.map((run) => run.outcome)).toEqual(['succeeded', 'succeeded'])
    expect(events.filter((event) => event.type === 'run.started').at(-1)?.data).toMatchObject({ resumed: true })
    expect(task.subtasks.map(({ name, state }) => [name, state])).toEqual([
      ['first', 'completed'],
      ['second', 'completed'],
    ])
    expect(readFileSync(join(workspace, 'first.txt'), 'utf8')).toBe('1')
    expect(readFileSync(join(workspace, 'second.txt'), 'utf8')).toBe('2')
    const [first] = await Promise.all(task.subtasks.map(({ id }) => machine.daemon.runtime.getTask(id)))
    expect(first).toMatchObject({ parent: task.id, result: { verified: true } })
    // Program and model remember the conversation: what it heard is what is new, and names both.
    expect(task.result?.text).toMatch(/^Heard: The 2 subtasks that you made have ended\./)
    expect(task.result?.text).toMatch(/"first": completed\]\n```text\nThe first file is written\.\n```/)
    expect(task.result?.text).toContain('The second file is written.')
    const asked = JSON.stringify(
      machine.models.requests.find((request) => JSON.stringify(request.body).includes('first message'))?.body,
    )
    expect(asked).toContain('Before you begin, estimate how long this task will take you.')
  })

  test('is told its task by a word that the door understands, for it serves many', async () => {
    const asking =
      'echo "$PAWL_TASK_ID $CLAUDOMATOR_TASK_ID"; curl -s -H "Authorization: Bearer $PAWL_API_TOKEN" "$PAWL_API_URL/v1/task"'
    const split = `curl -s -d "{\\"parent_task_id\\":\\"$CLAUDOMATOR_TASK_ID\\",\\"agent\\":{\\"instructions\\":\\"second\\"}}" "$CLAUDOMATOR_API_URL/api/tasks"`
    const { task } = await machine.run(
      { agentConfig: machine.agent(program, 'shell'), workspace: await machine.workspace(), prompt: `\`${asking}; ${split}\`` },
      (event) => event.type === 'agent.tool_returned' || event.type === 'task.completed',
    )
    expect(task.subtasks).toMatchObject([{ parent: task.id, name: 'second' }])
    await machine.daemon.runtime.cancelTask(task.id, { now: true, by: 'test' })
    const events = await machine.daemon.runtime.readEvents(task.id, { after: 0, limit: 500 })
    const said = JSON.stringify(events.filter((event) => event.type === 'agent.tool_returned'))
    expect(said).toContain('current current')
    expect(said).toContain(task.id)
  })
})

test('a task that is planned without Bash is not given it', async () => {
  const program = programs[0]!
  const { task } = await machine.run(
    {
      agentConfig: machine.agent(program, 'subtasks'),
      workspace: await machine.workspace(),
      skipPlanning: false,
      disallowedTools: ['Bash'],
    },
    (event) => event.type === 'task.completed' || event.type === 'task.failed',
  )
  // The first would have brought a check, which is a command for a shell.
  expect(task).toMatchObject({ state: 'completed', subtasks: [{ name: 'second', state: 'completed' }] })
  const bodies = machine.models.requests.slice(-4).map(({ body }) => body as { tools?: { name: string }[] })
  const offered = bodies.flatMap(({ tools }) => tools?.map(({ name }) => name) ?? [])
  expect(offered).toContain('Write')
  expect(offered).not.toContain('Bash')
})
