import { type StreamResponse, TaskState } from '@a2a-js/sdk'
import {
  type A2AError,
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotCancelableError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import { expect } from 'vitest'
import { all, request, stateOf, taskIn, told } from '../stage.ts'
import type { Check } from './checks.ts'
import type { World } from './world.ts'

const nowhere = 't_0123456789abcdefgh'
const listing = {
  tenant: '',
  contextId: '',
  status: TaskState.TASK_STATE_UNSPECIFIED,
  pageToken: '',
  pageSize: 50,
  statusTimestampAfter: undefined,
} as const
const cancelling = (id: string) => ({ tenant: '', id, metadata: undefined })

/** Refused with this error of A2A, on whichever binding. */
async function refused(work: () => Promise<unknown>, error: new (...args: never[]) => A2AError): Promise<void> {
  const got = await work().then(
    () => 'it was answered',
    (thrown: unknown) => thrown,
  )
  expect(got).toBeInstanceOf(error)
}
const streamed = (world: World, prefix: string) =>
  all(world.client.sendMessageStream(request({ text: 'please', messageId: world.id(prefix) })))
const inProgress = async (world: World, prefix = 'test-resubscribe-message-id') =>
  taskIn(
    await world.client.sendMessage(
      request({ text: 'please', messageId: world.id(prefix), configuration: { returnImmediately: true } }),
    ),
  )
const threeInOneContext = async (world: World) => {
  const { id, contextId } = await world.made('tck-complete-task')
  const ids = [id]
  for (let n = 0; n < 2; n++)
    ids.push(
      taskIn(await world.client.sendMessage(request({ text: 'x', contextId, messageId: world.id('tck-complete-task') }))).id,
    )
  return { contextId, ids }
}
const firstOf = (events: readonly StreamResponse[]) => events[0]?.payload?.$case

export const operationChecks = {
  async 'send.answers'(world) {
    expect(stateOf(await world.made('tck-complete-task'))).toBe('COMPLETED')
    const reply = await world.client.sendMessage(request({ text: 'hi', messageId: world.id('tck-message-response') }))
    expect(reply).toMatchObject({
      messageId: expect.any(String),
      parts: [{ content: { $case: 'text', value: 'Direct message response' } }],
    })
  },
  async 'send.ended'(world) {
    const { id } = await world.made('tck-complete-task')
    await refused(() => world.client.sendMessage(request({ text: 'more', taskId: id })), UnsupportedOperationError)
  },
  async 'send.media'(world) {
    const part = {
      content: { $case: 'raw' as const, value: Buffer.from('x') },
      mediaType: 'application/x-unknown',
      filename: '',
      metadata: undefined,
    }
    await refused(() => world.client.sendMessage(request({ parts: [part] })), ContentTypeNotSupportedError)
  },
  async 'stream.opens'(world) {
    expect((await streamed(world, 'tck-stream-001')).map(told)).toContain('COMPLETED')
  },
  async 'stream.message'(world) {
    expect((await streamed(world, 'tck-stream-002')).map(told)).toEqual(['message Direct message response'])
  },
  async 'stream.task'(world) {
    const events = await streamed(world, 'tck-stream-003')
    expect([firstOf(events), told(events.at(-1)!)]).toEqual(['task', 'COMPLETED'])
  },
  async 'get.current'(world) {
    const task = await world.made('tck-artifact-text')
    const got = await world.client.getTask({ tenant: '', id: task.id })
    expect([stateOf(got), got.artifacts]).toEqual(['COMPLETED', task.artifacts])
  },
  'get.unknown': (world) => refused(() => world.client.getTask({ tenant: '', id: nowhere }), TaskNotFoundError),
  async 'list.cursor'(world) {
    const { contextId } = await threeInOneContext(world)
    const first = await world.client.listTasks({ ...listing, contextId, pageSize: 2 })
    const second = await world.client.listTasks({ ...listing, contextId, pageSize: 2, pageToken: first.nextPageToken })
    const ids = [...first.tasks, ...second.tasks].map(({ id }) => id)
    expect([first.tasks.length, second.tasks.length, new Set(ids).size]).toEqual([2, 1, 3])
  },
  async 'list.order'(world) {
    const { contextId, ids } = await threeInOneContext(world)
    const { tasks } = await world.client.listTasks({ ...listing, contextId })
    expect(tasks.map(({ id }) => id)).toEqual(ids.toReversed())
  },
  async 'list.token'(world) {
    const { contextId } = await world.made('tck-complete-task')
    const outcome = await world.raw('listTasks', { contextId, pageSize: 100 })
    expect(outcome.value).toMatchObject({ nextPageToken: '', tasks: [{ contextId }] })
  },
  async 'list.artifacts'(world) {
    const { contextId } = await world.made('tck-artifact-text')
    const { value } = await world.raw('listTasks', { contextId, pageSize: 100 })
    const [task] = (value as { tasks: { artifacts?: unknown[] }[] }).tasks
    // What is written for gRPC has no way to tell none from an empty list.
    if (world.binding === 'GRPC') expect(task?.artifacts).toEqual([])
    else expect(task).not.toHaveProperty('artifacts')
    const asked = await world.client.listTasks({ ...listing, contextId, includeArtifacts: true })
    expect(asked.tasks[0]?.artifacts).toHaveLength(1)
  },
  async 'cancel.answers'(world) {
    const task = await world.made('tck-input-required')
    expect(stateOf(await world.client.cancelTask(cancelling(task.id)))).toBe('CANCELED')
  },
  async 'cancel.ended'(world) {
    const { id } = await world.made('tck-complete-task')
    await refused(() => world.client.cancelTask(cancelling(id)), TaskNotCancelableError)
  },
  'cancel.unknown': (world) => refused(() => world.client.cancelTask(cancelling(nowhere)), TaskNotFoundError),
  async 'subscribe.first'(world) {
    const task = await world.made('tck-input-required')
    const stream = world.client.resubscribeTask({ tenant: '', id: task.id })
    const { value } = await stream.next()
    expect(told(value!)).toBe('task INPUT_REQUIRED')
    const rest = all(stream)
    await world.client.cancelTask(cancelling(task.id))
    expect((await rest).map(told).at(-1)).toBe('CANCELED')
  },
  async 'subscribe.ends'(world) {
    const { id } = await inProgress(world)
    const events = (await all(world.client.resubscribeTask({ tenant: '', id }))).map(told)
    expect(events.at(-1)).toBe('COMPLETED')
  },
  async 'subscribe.ended'(world) {
    const { id } = await world.made('tck-complete-task')
    await refused(() => all(world.client.resubscribeTask({ tenant: '', id })), UnsupportedOperationError)
  },
  'subscribe.unknown': (world) =>
    refused(() => all(world.client.resubscribeTask({ tenant: '', id: nowhere })), TaskNotFoundError),
  async 'mode.waits'(world) {
    expect(stateOf(await world.made('tck-delayed-complete'))).toBe('COMPLETED')
    expect(stateOf(await world.made('tck-input-required'))).toBe('INPUT_REQUIRED')
  },
  async 'mode.returns'(world) {
    expect(['SUBMITTED', 'WORKING']).toContain(stateOf(await inProgress(world, 'tck-delayed-complete')))
  },
  async 'history.length'(world) {
    const { id } = await world.made('tck-complete-task')
    for (const historyLength of [0, 1])
      expect((await world.client.getTask({ tenant: '', id, historyLength })).history.length).toBeLessThanOrEqual(historyLength)
  },
  async 'error.invalid'(world) {
    await refused(() => world.client.sendMessage(request({ text: 'x', messageId: '' })), RequestMalformedError)
    await refused(() => world.client.sendMessage(request({ parts: [] })), RequestMalformedError)
    await refused(() => world.client.listTasks({ ...listing, pageSize: 100_000 }), RequestMalformedError)
  },
  async 'context.made'(world) {
    expect((await world.made('tck-complete-task')).contextId).toMatch(/^s_/)
  },
  async 'context.refused'(world) {
    await refused(() => world.client.sendMessage(request({ text: 'x', contextId: 'of-the-client' })), RequestMalformedError)
  },
  async 'task.id'(world) {
    const [one, other] = [await world.made('tck-complete-task'), await world.made('tck-complete-task')]
    expect(one.id).not.toBe(other.id)
  },
  'task.unknown': (world) => refused(() => world.client.sendMessage(request({ text: 'x', taskId: nowhere })), TaskNotFoundError),
  async 'context.inferred'(world) {
    const task = await world.made('tck-input-required')
    const done = taskIn(
      await world.client.sendMessage(request({ text: 'this', taskId: task.id, messageId: world.id('tck-complete-task') })),
    )
    expect([done.id, done.contextId, stateOf(done)]).toEqual([task.id, task.contextId, 'COMPLETED'])
  },
  async 'context.mismatch'(world) {
    const task = await world.made('tck-input-required')
    const other = await world.made('tck-complete-task')
    await refused(
      () => world.client.sendMessage(request({ text: 'x', taskId: task.id, contextId: other.contextId })),
      RequestMalformedError,
    )
    await world.client.cancelTask(cancelling(task.id))
  },
  async 'order.generated'(world) {
    const events = (await streamed(world, 'tck-stream-ordering-001')).map(told)
    // It may be at work already when the stream begins, and the first word says so.
    const places = [/^(task )?WORKING$/, /^artifact result last$/, /^COMPLETED$/].map((event) =>
      events.findIndex((one) => event.test(one)),
    )
    expect(
      places.every((place) => place >= 0),
      events.join(', '),
    ).toBe(true)
    expect(places).toEqual(places.toSorted((a, b) => a - b))
  },
  async 'order.streams'(world) {
    const { id } = await world.made('tck-input-required')
    const streams = [1, 2].map(() => world.client.resubscribeTask({ tenant: '', id }))
    await Promise.all(streams.map((stream) => stream.next()))
    const rest = streams.map(all)
    await world.client.sendMessage(request({ text: 'this', taskId: id, messageId: world.id('tck-complete-task') }))
    const [one, other] = (await Promise.all(rest)).map((events) => events.map(told))
    expect(one).toEqual(other)
    expect(one?.at(-1)).toBe('COMPLETED')
  },
  async 'order.closing'(world) {
    const { id } = await world.made('tck-input-required')
    const [one, other] = [1, 2].map(() => world.client.resubscribeTask({ tenant: '', id })) as [
      AsyncGenerator<StreamResponse>,
      AsyncGenerator<StreamResponse>,
    ]
    await Promise.all([one.next(), other.next()])
    const rest = all(other)
    await one.return(undefined)
    await world.client.sendMessage(request({ text: 'this', taskId: id, messageId: world.id('tck-complete-task') }))
    expect((await rest).map(told).at(-1)).toBe('COMPLETED')
  },
  async 'fields.required'(world) {
    const task = await world.made('tck-artifact-file')
    expect(task).toMatchObject({
      id: expect.stringMatching(/^t_/),
      contextId: expect.stringMatching(/^s_/),
      status: { state: TaskState.TASK_STATE_COMPLETED, timestamp: expect.any(String) },
    })
    for (const { artifactId, parts } of task.artifacts) expect([artifactId.length > 0, parts.length > 0]).toEqual([true, true])
    const file = task.artifacts.flatMap(({ parts }) => parts).find(({ filename }) => filename === 'output.txt')
    expect(file).toMatchObject({ mediaType: 'text/plain', content: { $case: 'raw', value: Buffer.from('tck') } })
  },
} satisfies Record<string, Check>
