import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../../test/fake-runtime.ts'
import { ask, surfaceOver } from '../../../../test/http-peer.ts'

test('skills and subagents are listed for whoever asks', async () => {
  const runtime = fakeRuntime()
  const surface = surfaceOver(runtime)
  const skills = await ask(surface, 'GET', '/api/v1/skills')
  expect([skills.status, skills.json]).toEqual([
    200,
    {
      items: [{ name: 'review', scope: 'global', kind: 'instructions', description: 'Looks at changes.', problem: null }],
      next: null,
    },
  ])
  const subagents = await ask(surface, 'GET', '/api/v1/subagents')
  expect(subagents.json.items).toEqual([{ name: 'reviewer', scope: 'user', description: '', problem: 'has no description' }])
  const caller = expect.objectContaining({ user: 'local' })
  expect(runtime.calls).toEqual([
    ['listSkills', caller],
    ['listSubagents', caller],
  ])
})
