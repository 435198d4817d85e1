import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../../test/fake-runtime.ts'
import { ask, surfaceOver } from '../../../../test/http-peer.ts'

const runtime = fakeRuntime()
const surface = surfaceOver(runtime)
const lastCall = () => runtime.calls.at(-1)

test('several tasks are asked for at once, and may name each other', async () => {
  const tasks = [
    { prompt: 'a', name: 'build' },
    { prompt: 'b', dependsOn: ['build'], priority: 'high' },
  ]
  const { status, json } = await ask(surface, 'POST', '/api/v1/tasks/batch', { json: { tasks } })
  expect([status, json.items.length]).toEqual([201, 2])
  expect(runtime.calls.find(([verb]) => verb === 'createTasks')?.[1]).toEqual({
    tasks: [tasks[0], { ...tasks[1], priority: 1 }],
  })
  const wrong = await ask(surface, 'POST', '/api/v1/tasks/batch', { json: { tasks: [{ prompt: 'a', nmae: 'x' }] } })
  expect([wrong.status, JSON.stringify(wrong.json)]).toEqual([400, expect.stringContaining('did you mean')])
})

test('a task is tried again with raised caps, changed while it waits, and deleted', async () => {
  const { json } = await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: 'a' } })
  const path = `/api/v1/tasks/${json.id}`
  expect((await ask(surface, 'POST', `${path}/retry`, { json: { budget: { usd: 5 }, timeoutMs: 0 } })).status).toBe(200)
  expect(lastCall()).toEqual(['retryTask', json.id, expect.objectContaining({ fresh: false, budget: { usd: 5 }, timeoutMs: 0 })])
  expect((await ask(surface, 'PATCH', path, { json: { name: null, priority: 'low' } })).status).toBe(200)
  expect(lastCall()?.slice(0, 3)).toEqual(['editTask', json.id, { name: null, priority: -1 }])
  const removed = await ask(surface, 'DELETE', path)
  expect([removed.status, removed.json]).toEqual([200, { removed: [json.id] }])
  expect((await ask(surface, 'GET', path)).status).toBe(404)
})
