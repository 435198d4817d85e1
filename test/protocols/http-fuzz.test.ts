import fc from 'fast-check'
import { expect, test } from 'vitest'
import { newId } from '../../src/domain/id.ts'
import { fakeRuntime } from '../fake-runtime.ts'
import { ask, surfaceOver } from '../http-peer.ts'

const runtime = fakeRuntime()
const surface = surfaceOver(runtime)

const hostile = fc.oneof(
  fc.constantFrom(
    '',
    ' ',
    '-rf',
    '--',
    '\u0000',
    '../../etc/passwd',
    '$(x)',
    '%00',
    '\u202e',
    '__proto__',
    'constructor',
    'x'.repeat(5_000),
  ),
  fc.constantFrom(-1, 0, 1.5, 2 ** 53, -(2 ** 63), 1e308),
  fc.constantFrom(null, true, false),
  fc.jsonValue({ maxDepth: 3 }),
)
const keys = [
  'prompt',
  'agent',
  'agentConfig',
  'workspace',
  'session',
  'resetSession',
  'outputSchema',
  'model',
  'priority',
  'tags',
  'timeoutMs',
  'extraArgs',
  'profile',
  'attended',
]
const nearlyATask = fc
  .tuple(fc.dictionary(fc.constantFrom(...keys), hostile), hostile)
  .map(([body, prompt]) => ({ prompt, ...body }))

/** No answer may be a failure of ours, speak of our insides, or be anything but JSON. */
function isCivil(answer: Awaited<ReturnType<typeof ask>>): void {
  expect(answer.status).toBeLessThan(500)
  expect(answer.json).toBeDefined()
  if (answer.status < 400) return
  expect(answer.headers.get('content-type')).toBe('application/problem+json')
  expect(answer.json).toMatchObject({ status: answer.status, code: expect.any(String), detail: expect.any(String) })
  expect(answer.json.detail).not.toMatch(/node_modules|\n\s+at /)
}

test('whatever is sent as a task is taken or refused with a sentence', async () => {
  await fc.assert(
    fc.asyncProperty(fc.oneof(nearlyATask, hostile), async (body) => {
      isCivil(await ask(surface, 'POST', '/api/v1/tasks', { json: JSON.stringify(body) }))
    }),
    { numRuns: 500 },
  )
})

test('whatever is sent as an answer or an option is taken or refused with a sentence', async () => {
  const { task } = await runtime.createTask({ prompt: 'p' }, { by: 'test' })
  const question = runtime.ask(task.id, 'which?')
  const paths = [
    `/tasks/${task.id}/cancel`,
    `/tasks/${task.id}/retry`,
    `/questions/${question.id}/answer`,
    `/tasks/${newId('task', 0)}/cancel`,
    `/sessions/${task.session}/stop`,
    '/sessions/adopt',
  ]
  const body = fc.oneof(
    fc.dictionary(fc.constantFrom('now', 'fresh', 'answer', 'vendorId', 'agent', 'agentConfig', 'workspace'), hostile),
    hostile,
  )
  await fc.assert(
    fc.asyncProperty(fc.constantFrom(...paths), body, async (path, json) => {
      isCivil(await ask(surface, 'POST', `/api/v1${path}`, { json: JSON.stringify(json) }))
    }),
    { numRuns: 300 },
  )
})

test('whatever stands in a path or a query is answered or refused with a sentence', async () => {
  const word = fc.oneof(
    fc.string({ unit: 'binary', maxLength: 30 }),
    fc.constantFrom('queued', '..', '%2e%2e%2f', 'a,b', '\u0000', '9'.repeat(400)),
  )
  const name = fc.oneof(
    fc.constantFrom('state', 'agent', 'tag', 'text', 'limit', 'cursor', 'after', 'until', 'task', 'session'),
    word,
  )
  const path = fc.oneof(
    fc.constantFrom('/tasks', '/sessions', '/questions', '/agents', '/health', `/tasks/${newId('task', 0)}/events`),
    word.map((id) => `/tasks/${encodeURIComponent(id.toWellFormed())}`),
    word.map((id) => `/tasks/${encodeURIComponent(id.toWellFormed())}/events`),
    word.map((id) => `/sessions/${encodeURIComponent(id.toWellFormed())}`),
  )
  await fc.assert(
    fc.asyncProperty(path, fc.array(fc.tuple(name, word), { maxLength: 3 }), async (where, query) => {
      const url = `/api/v1${where}?${new URLSearchParams(query.map(([key, value]): [string, string] => [key, value]))}`
      isCivil(await ask(surface, 'GET', url, { headers: { accept: 'application/json' } }))
    }),
    { numRuns: 500 },
  )
})
