import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { expect } from 'vitest'
import { request, taskIn } from '../stage.ts'
import type { Check } from './checks.ts'
import type { World } from './world.ts'

const config = (world: World, taskId: string, id: string) => ({
  tenant: '',
  id,
  taskId,
  url: world.receiver.url(`/ok/${id}`),
  token: `token-of-${id}-0123456789`,
  authentication: { scheme: 'Bearer', credentials: `credentials-of-${id}-01234` },
})
const asked = async (world: World) => {
  const { id: taskId } = await world.made('tck-complete-task')
  const wanted = config(world, taskId, world.id('push'))
  expect(await world.client.createTaskPushNotificationConfig(wanted)).toEqual(wanted)
  return wanted
}
const named = ({ taskId, id }: { taskId: string; id: string }) => ({ tenant: '', taskId, id })
const listed = (world: World, taskId: string) =>
  world.client.listTaskPushNotificationConfig({ tenant: '', taskId, pageSize: 0, pageToken: '' })

/** A task that asks, is answered, and is done, with somebody who is told of all that. */
async function told(world: World) {
  const id = world.id('push')
  const configuration = { taskPushNotificationConfig: config(world, '', id) }
  const task = taskIn(
    await world.client.sendMessage(request({ text: 'x', messageId: world.id('tck-input-required'), configuration })),
  )
  await world.client.sendMessage(request({ text: 'this', taskId: task.id, messageId: world.id('tck-complete-task') }))
  const heard = () => world.receiver.at(`/ok/${id}`)
  await expect
    .poll(
      () =>
        heard()
          .map(({ body }) => body)
          .join(),
      { timeout: 20_000 },
    )
    .toContain('TASK_STATE_COMPLETED')
  return { id, task, posts: heard() }
}

export const pushChecks = {
  async 'push.create'(world) {
    const wanted = await asked(world)
    expect(await world.client.getTaskPushNotificationConfig(named(wanted))).toEqual(wanted)
    const { configs } = await listed(world, wanted.taskId)
    const other = await world.client.createTaskPushNotificationConfig({ ...wanted, id: '' })
    expect([configs.length, other.id.length > 0]).toEqual([1, true])
  },
  async 'push.get'(world) {
    const wanted = await asked(world)
    expect(await world.client.getTaskPushNotificationConfig(named(wanted))).toMatchObject({ url: wanted.url })
  },
  async 'push.unknown'(world) {
    const { taskId } = await asked(world)
    await expect(world.client.getTaskPushNotificationConfig(named({ taskId, id: 'none' }))).rejects.toBeInstanceOf(
      TaskNotFoundError,
    )
    await expect(listed(world, 't_0123456789abcdefgh')).rejects.toBeInstanceOf(TaskNotFoundError)
  },
  async 'push.list'(world) {
    const wanted = await asked(world)
    const second = { ...wanted, id: world.id('push') }
    await world.client.createTaskPushNotificationConfig(second)
    expect((await listed(world, wanted.taskId)).configs.map(({ id }) => id)).toEqual([wanted.id, second.id])
  },
  async 'push.delete'(world) {
    const wanted = await asked(world)
    await world.client.deleteTaskPushNotificationConfig(named(wanted))
    await world.client.deleteTaskPushNotificationConfig(named(wanted))
    await expect(world.client.getTaskPushNotificationConfig(named(wanted))).rejects.toBeInstanceOf(TaskNotFoundError)
  },
  async 'push.payload'(world) {
    const { posts, task } = await told(world)
    for (const { body, headers } of posts) {
      expect(headers['content-type']).toBe('application/a2a+json')
      const [[kind, value] = [], ...others] = Object.entries(JSON.parse(body) as Record<string, { taskId: string }>)
      expect([others.length, value?.taskId]).toEqual([0, task.id])
      expect(['statusUpdate', 'artifactUpdate']).toContain(kind)
    }
  },
  async 'push.authentication'(world) {
    const { id, posts } = await told(world)
    for (const { headers } of posts)
      expect(headers).toMatchObject({
        authorization: `Bearer credentials-of-${id}-01234`,
        'x-a2a-notification-token': `token-of-${id}-0123456789`,
      })
  },
  async 'push.delivery'(world) {
    const { posts } = await told(world)
    const states = posts.flatMap(({ body }) => /TASK_STATE_\w+/.exec(body)?.[0] ?? [])
    for (const state of ['WORKING', 'INPUT_REQUIRED', 'COMPLETED']) expect(states).toContain(`TASK_STATE_${state}`)
    expect(states.at(-1)).toBe('TASK_STATE_COMPLETED')
  },
} satisfies Record<string, Check>
