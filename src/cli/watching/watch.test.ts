import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../test/fake-runtime.ts'
import { isAtRest } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import { watchTask } from './watch.ts'

async function queued() {
  const runtime = fakeRuntime()
  const { task } = await runtime.createTask({ prompt: 'x' }, { by: 'test' })
  const seen: string[] = []
  const watch = (signal = new AbortController().signal, after = 0) =>
    watchTask(runtime, {
      task: task.id,
      after,
      show: (event) => seen.push(`${event.seq} ${event.type}`),
      isDone: (view: TaskView) => isAtRest(view.state),
      signal,
    })
  const already = (await runtime.readEvents(task.id, { after: 0, limit: 100 })).length
  return { runtime, id: task.id, seen, watch, already }
}

test('a rest that is over already does not end the watch, and everything since is shown once', async () => {
  const { runtime, id, seen, watch, already } = await queued()
  runtime.emit(id, { type: 'task.blocked', data: { kind: 'question' } })
  runtime.emit(id, { type: 'task.requeued', data: { why: 'answer' } })
  runtime.setState(id, 'running')
  const watched = watch()
  await expect.poll(() => runtime.followers()).toBe(1)
  await expect.poll(() => seen.length).toBe(already + 2)
  runtime.setState(id, 'completed')
  runtime.emit(id, { type: 'agent.message', data: { text: 'done' } }, { type: 'task.completed', data: { verified: false } })
  const rested = await watched
  expect(rested).toMatchObject({ task: { id, state: 'completed' }, after: already + 4 })
  expect(seen.slice(already)).toEqual([
    `${already + 1} task.blocked`,
    `${already + 2} task.requeued`,
    `${already + 3} agent.message`,
    `${already + 4} task.completed`,
  ])
})

test('what was recorded after the rest belongs to what is shown', async () => {
  const { runtime, id, seen, watch, already } = await queued()
  const watched = watch()
  await expect.poll(() => runtime.followers()).toBe(1)
  runtime.setState(id, 'completed')
  runtime.emit(id, { type: 'task.completed', data: { verified: false } })
  runtime.emit(id, { type: 'run.noted', data: { code: 'late', detail: 'a late result' } })
  expect(await watched).toMatchObject({ after: already + 2 })
  expect(seen.at(-1)).toBe(`${already + 2} run.noted`)
})

test('leaving ends the watch without a word about the task', async () => {
  const { runtime, watch } = await queued()
  const leave = new AbortController()
  const watched = watch(leave.signal)
  await expect.poll(() => runtime.followers()).toBe(1)
  leave.abort()
  expect(await watched).toBeUndefined()
})
