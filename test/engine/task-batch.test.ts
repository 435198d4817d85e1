import { mkdirSync, rmSync } from 'node:fs'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { NewTasks } from '../../src/domain/view/view.ts'
import { makeVerbs } from './verbs.ts'

describe('tasks that are made together', () => {
  let parts: Awaited<ReturnType<typeof makeVerbs>>
  let close: (() => Promise<void>) | undefined
  beforeAll(async () => {
    parts = await makeVerbs({
      onEnd: (end) => {
        close = end
      },
    })
  })
  afterAll(() => close?.())
  const make = (tasks: NewTasks['tasks'], idempotencyKey?: string) =>
    parts.verbs.createTasks({ tasks }, { ...parts.caller, idempotencyKey })
  const count = async () => (await parts.verbs.listTasks({ limit: 200 })).items.length

  it('may depend on each other by name, whatever order they are written in', async () => {
    const { tasks } = await make([
      { prompt: 'c', name: 'deploy', dependsOn: ['test', 'build'] },
      { prompt: 'b', name: 'test', dependsOn: ['build'] },
      { prompt: 'a', name: 'build' },
    ])
    const [deploy, test, build] = tasks as [(typeof tasks)[0], (typeof tasks)[0], (typeof tasks)[0]]
    expect(tasks.map(({ name, state }) => [name, state])).toEqual([
      ['deploy', 'created'],
      ['test', 'created'],
      ['build', 'queued'],
    ])
    expect(deploy.dependsOn.map(({ id }) => id).sort()).toEqual([build.id, test.id].sort())
    expect(build.id < test.id && test.id < deploy.id).toBe(true)
    await parts.end(build.id, 'succeeded')
    expect(await parts.stateOf(test.id)).toBe('queued')
    expect(await parts.stateOf(deploy.id)).toBe('created')
  })

  it('are all refused if one is wrong, which is named', async () => {
    const before = await count()
    await expect(
      make([
        { prompt: 'a', name: 'one' },
        { prompt: 'b', name: 'two', agent: 'helpr' },
      ]),
    ).rejects.toThrow('"two": There is no agent "helpr"; did you mean "helper"?')
    await expect(make([{ prompt: 'a' }, { prompt: 'b', workspace: join(parts.home.path, 'not-there') }])).rejects.toThrow(
      /^task 2: /,
    )
    // This one is found out only while they are written.
    await expect(make([{ prompt: 'a' }, { prompt: 'b', dependsOn: ['t_000000000000000000'] }])).rejects.toThrow(/to depend on/)
    expect(await count()).toBe(before)
  })

  it('are refused when they wait for each other, with the circle, and when a name is unknown or stands for two', async () => {
    await expect(
      make([
        { prompt: 'a', name: 'a', dependsOn: ['c'] },
        { prompt: 'b', name: 'b', dependsOn: ['a'] },
        { prompt: 'c', name: 'c', dependsOn: ['b'] },
      ]),
    ).rejects.toThrow('These tasks wait for each other: "a" → "c" → "b" → "a". Take one of the arrows out.')
    await expect(make([{ prompt: 'a', name: 'self', dependsOn: ['self'] }])).rejects.toThrow('"self" → "self"')
    await expect(
      make([
        { prompt: 'a', name: 'build' },
        { prompt: 'b', dependsOn: ['biuld'] },
      ]),
    ).rejects.toThrow(
      'task 2: depends on "biuld", which is neither the id of a task nor the name of one here; did you mean "build"?',
    )
    await expect(
      make([
        { prompt: 'a', name: 'x' },
        { prompt: 'b', name: 'x' },
        { prompt: 'c', dependsOn: ['x'] },
      ]),
    ).rejects.toThrow('task 3: depends on "x", and 2 tasks have that name.')
  })

  it('are made once with one key, also if a folder of theirs is gone by then', async () => {
    const workspace = join(parts.home.path, '..', `${parts.home.path.split('/').at(-1)}-ws`)
    mkdirSync(workspace, { recursive: true })
    const tasks = [
      { prompt: 'b', name: 'second', dependsOn: ['first'], workspace },
      { prompt: 'a', name: 'first' },
    ]
    const [one, two] = await Promise.all([make(tasks, 'file-1'), make(tasks, 'file-1')])
    expect([one.created, two.created].sort()).toEqual([false, true])
    expect(one.tasks.map(({ id }) => id)).toEqual(two.tasks.map(({ id }) => id))
    rmSync(workspace, { recursive: true })
    expect((await make(tasks, 'file-1')).tasks.map(({ name }) => name)).toEqual(['second', 'first'])
    await expect(make([{ prompt: 'other' }], 'file-1')).rejects.toThrow(/used for another request/)
  })
})
