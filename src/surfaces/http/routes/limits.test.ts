import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../../test/fake-runtime.ts'
import { ask, surfaceOver } from '../../../../test/http-peer.ts'
import { newId } from '../../../domain/id.ts'

test('limits are listed, forgotten by agent, and a parked task is resumed, each in the name of who asked', async () => {
  const runtime = fakeRuntime()
  const surface = surfaceOver(runtime)
  expect(await ask(surface, 'GET', '/api/v1/limits')).toMatchObject({ status: 200, json: { items: [], next: null } })
  const cleared = await ask(surface, 'POST', '/api/v1/limits/clear', { json: { agent: 'claude' } })
  expect(cleared).toMatchObject({ status: 200, json: { items: [], next: null } })
  const { task } = await runtime.createTask({ prompt: 'x' }, { by: 'test' })
  runtime.setState(task.id, 'parked')
  expect(await ask(surface, 'POST', `/api/v1/tasks/${task.id}/resume`)).toMatchObject({ status: 200, json: { state: 'queued' } })
  const by = expect.objectContaining({ user: 'local' })
  expect(runtime.calls.filter(([verb]) => verb !== 'createTask')).toEqual([
    ['listLimits'],
    ['clearLimits', 'claude', by],
    ['resumeTask', task.id, by],
  ])
})

test('what names no agent, and no task, is refused', async () => {
  const surface = surfaceOver(fakeRuntime())
  for (const json of [{}, { agent: '' }, { agent: 'claude', all: true }])
    expect((await ask(surface, 'POST', '/api/v1/limits/clear', { json })).status).toBe(400)
  expect((await ask(surface, 'POST', `/api/v1/tasks/${newId('task', 0)}/resume`)).status).toBe(404)
})
