import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import { afterAll, beforeAll, describe, expect, it } from 'vitest'
import type { Daemon } from '../../src/daemon/daemon.ts'
import type { NewTask } from '../../src/domain/view/view.ts'
import { commandAgent, eventsUntil, isResting, makeHome, startEngine } from './home.ts'

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Daemon
beforeAll(async () => {
  home = await makeHome()
  daemon = await startEngine(home.path)
})
afterAll(async () => {
  await daemon.stop()
  await home.remove()
})

const create = async (script: string, task: Partial<NewTask> = {}) => {
  const agentConfig = commandAgent(['/bin/sh', '-c', script])
  return (await daemon.runtime.createTask({ prompt: 'x', agentConfig, ...task }, { by: 'test' })).task
}
const rest = (id: string) => eventsUntil(daemon, id, isResting)
const begun = (id: string) => eventsUntil(daemon, id, (event) => event.type === 'agent.message')

describe('a session', () => {
  it('is listed with its last task and shown with all of them, newest first', async () => {
    const first = await create('true')
    await rest(first.id)
    const second = await create('echo done', { session: first.session, prompt: 'p'.repeat(500) })
    await rest(second.id)
    const other = await create('true')
    const { items, next } = await daemon.runtime.listSessions({ limit: 2 })
    expect(next).toBeNull()
    expect(items.map(({ id }) => id)).toEqual([other.session, first.session])
    const { lastTask, ...shown } = items[1]!
    expect(lastTask).toEqual({ id: second.id, state: 'completed' })
    const view = await daemon.runtime.getSession(first.session)
    expect(view).toMatchObject(shown)
    expect(view).toMatchObject({ agent: 'helper', adapter: 'custom', vendorId: null, taskCount: 2, archivedBytes: 0 })
    expect(view.updatedAt).toBe((await daemon.runtime.getTask(second.id)).updatedAt)
    expect(view.tasks.map(({ id, prompt }) => [id, prompt.length])).toEqual([
      [second.id, 200],
      [first.id, 1],
    ])
    await rest(other.id)
  })

  it('comes in pages that miss none and repeat none', async () => {
    const all = (await daemon.runtime.listSessions({ limit: 100 })).items.map(({ id }) => id)
    const paged: string[] = []
    let cursor: string | undefined
    do {
      const page = await daemon.runtime.listSessions({ limit: 1, cursor })
      paged.push(...page.items.map(({ id }) => id))
      cursor = page.next ?? undefined
    } while (cursor !== undefined)
    expect(paged).toEqual(all)
    expect((await daemon.runtime.listSessions({ limit: 100, agent: 'nobody' })).items).toEqual([])
    await expect(daemon.runtime.listSessions({ limit: 1, cursor: 'x' })).rejects.toMatchObject({ code: 'invalid' })
  })

  it('shows its newest fifty tasks, and the list of tasks has the others', async () => {
    const first = await create('true')
    for (let n = 1; n < 52; n++) await create('true', { session: first.session })
    const view = await daemon.runtime.getSession(first.session)
    expect([view.taskCount, view.tasks.length]).toEqual([52, 50])
    expect((await daemon.runtime.listTasks({ session: first.session, limit: 100 })).items).toHaveLength(52)
    for (const { id } of (await daemon.runtime.listTasks({ session: first.session, limit: 100 })).items)
      await daemon.runtime.cancelTask(id, { by: 'test', now: true })
  })

  it('lends its agent and its workspace to a task that names neither', async () => {
    const workspace = join(home.path, 'lent')
    await mkdir(workspace)
    const first = await daemon.runtime.createTask({ prompt: 'x --no-question', agent: 'demo', workspace }, { by: 'test' })
    const { task } = await daemon.runtime.createTask({ prompt: 'y --no-question', session: first.task.session }, { by: 'test' })
    expect(task).toMatchObject({ agent: 'demo', workspace })
    await rest(task.id)
    const own = await create('true')
    expect((await create('true', { session: own.session })).workspace).toBe(own.workspace)
    await expect(create('true', { session: first.task.session })).rejects.toThrow('belongs to agent "demo"')
  })

  it('stopped, stops the task that runs and leaves those that wait', async () => {
    const first = await create('echo begun; sleep 100')
    await begun(first.id)
    const waiting = await create('echo begun; sleep 100', { session: first.session })
    const done = await daemon.runtime.stopSession(first.session, { by: 'test', now: true })
    expect(done).toMatchObject({ session: first.session, stopped: { id: first.id } })
    await rest(first.id)
    expect((await daemon.runtime.getTask(first.id)).state).toBe('cancelled')
    await begun(waiting.id)
    await daemon.runtime.stopSession(first.session, { by: 'test', now: true })
    await rest(waiting.id)
    expect(await daemon.runtime.stopSession(first.session, { by: 'test', now: false })).toEqual({
      session: first.session,
      stopped: null,
    })
  })

  it('that is not there is refused in a sentence', async () => {
    const sentence = 'There is no session s_000000000000000000; "pawl sessions ls" lists those there are.'
    await expect(daemon.runtime.getSession('s_000000000000000000')).rejects.toThrow(sentence)
    await expect(daemon.runtime.stopSession('s_000000000000000000', { by: 'test', now: false })).rejects.toThrow(sentence)
    await expect(create('true', { session: 's_000000000000000000' })).rejects.toThrow(sentence)
  })
})
