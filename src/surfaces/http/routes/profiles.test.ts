import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../../test/fake-runtime.ts'
import { ask, surfaceOver } from '../../../../test/http-peer.ts'

test('profiles are listed, narrowest first, and shown whole', async () => {
  const surface = surfaceOver(fakeRuntime())
  const { status, json } = await ask(surface, 'GET', '/api/v1/profiles')
  expect([status, json.next]).toEqual([200, null])
  expect(json.items.map((item: { name: string; walls: boolean }) => [item.name, item.walls])).toEqual([
    ['strict', true],
    ['guarded', true],
    ['trusted-repo', true],
    ['unattended-open', false],
  ])
  const one = await ask(surface, 'GET', '/api/v1/profiles/strict')
  expect([one.status, one.json]).toEqual([
    200,
    { ...json.items[0], profile: expect.objectContaining({ otherwise: 'ask', instructions: false }) },
  ])
})

test('a call is explained, and nothing is run', async () => {
  const surface = surfaceOver(fakeRuntime())
  const { status, json } = await ask(surface, 'POST', '/api/v1/profiles/strict/explain', {
    json: { tool: 'mcp__pawl__Bash', input: { command: 'git push' } },
  })
  expect([status, json]).toEqual([
    200,
    {
      profile: 'strict',
      verdict: 'ask',
      rule: 'Bash',
      from: 'rules.ask',
      why: 'The rule ask Bash of profile "strict" is about it.',
    },
  ])
})

test('a profile that is not there is 404 with the nearest, and a bad call is 400 by name', async () => {
  const surface = surfaceOver(fakeRuntime())
  const missing = await ask(surface, 'GET', '/api/v1/profiles/gaurded')
  expect([missing.status, missing.json.detail]).toEqual([404, expect.stringContaining('did you mean "guarded"?')])
  expect((await ask(surface, 'POST', '/api/v1/profiles/nope/explain', { json: { tool: 'x' } })).status).toBe(404)
  for (const body of [{}, { tool: '' }, { tool: 'Bash', inptu: {} }, { tool: 'Bash', input: 'ls' }])
    expect((await ask(surface, 'POST', '/api/v1/profiles/strict/explain', { json: body })).status).toBe(400)
})
