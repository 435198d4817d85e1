import { expect, test } from 'vitest'
import { type FakeRuntime, fakeRuntime } from '../../../test/fake-runtime.ts'
import { ask, bearer, surfaceOver, token } from '../../../test/http-peer.ts'
import { createLog } from '../../base/log.ts'
import { errorCodes, PawlError } from '../../domain/error.ts'

function peers(options: Parameters<typeof surfaceOver>[1] = {}) {
  const runtime = fakeRuntime()
  return { runtime, surface: surfaceOver(runtime, options) }
}

/** The owner of the home, as the runtime is told of them. */
const owner = { by: 'api', user: 'local', token: 'home', standing: 'admin' }

const newTask = async (runtime: FakeRuntime) => (await runtime.createTask({ prompt: 'p' }, { by: 'test' })).task

test('a task is made with 201 and its place, and again with 200 for the same key', async () => {
  const { surface, runtime } = peers()
  const headers = { 'idempotency-key': 'k1' }
  const made = await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: 'do it', priority: 'high' }, headers })
  expect([made.status, made.headers.get('location')]).toEqual([201, `/api/v1/tasks/${made.json.id}`])
  const again = await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: 'do it', priority: 'high' }, headers })
  expect([again.status, again.headers.get('location'), again.json]).toEqual([200, null, made.json])
  expect(runtime.calls[0]).toEqual(['createTask', { prompt: 'do it', priority: 1 }, { ...owner, idempotencyKey: 'k1' }])
  const other = await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: 'something else' }, headers })
  expect([other.status, other.json.code]).toEqual([409, 'conflict'])
})

test('a number that cannot be is refused in our own words, with its place', async () => {
  const { surface } = peers()
  const refusal = async (task: object) => {
    const { status, json } = await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: 'x', ...task } })
    expect([status, json.code]).toEqual([400, 'invalid'])
    return json.detail
  }
  expect(await refusal({ budget: { usd: -1 } })).toBe('The body is not right: budget.usd must be at least 0.')
  expect(await refusal({ timeoutMs: 1.5 })).toBe('The body is not right: timeoutMs must be a whole number.')
  expect(await refusal({ retry: { attempts: 'three' } })).toBe('The body is not right: retry.attempts must be a number.')
  expect(await refusal({ checks: { commands: [], attempts: 0 } })).toBe(
    'The body is not right: checks.commands must have at least 1 item.',
  )
  const two = await refusal({ budget: { usd: -1, tokens: 0 } })
  expect(two).toMatch(/^The body has 2 mistakes; the first: budget\.usd must be at least 0\.$/)
})

test('an idempotency key that cannot be stored is refused', async () => {
  const { surface } = peers()
  for (const key of ['', 'a b', 'x'.repeat(256)]) {
    const answer = await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: 'p' }, headers: { 'idempotency-key': key } })
    expect([answer.status, answer.json.errors[0].path]).toEqual([400, 'idempotency-key'])
  }
})

test('tasks are filtered by repeated or comma separated states', async () => {
  const { surface, runtime } = peers()
  for (const query of ['state=queued&state=running', 'state=queued,running']) {
    expect(
      (await ask(surface, 'GET', `/api/v1/tasks?${query}&agent=demo&tag=x&text=y&session=s_000000000000000000&limit=3&cursor=c`))
        .status,
    ).toBe(200)
    expect(runtime.calls.pop()).toEqual([
      'listTasks',
      {
        states: ['queued', 'running'],
        ...{ agent: 'demo', tag: 'x', text: 'y', session: 's_000000000000000000' },
        limit: 3,
        cursor: 'c',
      },
    ])
  }
  await ask(surface, 'GET', '/api/v1/tasks')
  expect(runtime.calls.pop()).toEqual(['listTasks', { limit: 50 }])
})

test('a wrong query is refused by name', async () => {
  const { surface, runtime } = peers()
  const detail = async (path: string) => {
    const answer = await ask(surface, 'GET', path)
    expect([answer.status, answer.json.code]).toEqual([400, 'invalid'])
    return answer.json.detail as string
  }
  expect(await detail('/api/v1/tasks?stat=queued')).toContain('"stat" is not known here; did you mean "state"?')
  expect(await detail('/api/v1/tasks?banana=1')).toContain('"banana" is not known here.')
  expect(await detail('/api/v1/tasks?state=asleep')).toContain('state')
  expect(await detail('/api/v1/tasks?limit=201')).toContain('limit')
  expect(await detail('/api/v1/tasks?limit=0')).toContain('limit')
  expect(await detail('/api/v1/agents?all=1')).toContain('"all"')
  expect(await detail('/readyz?x=1')).toContain('"x"')
  expect(runtime.calls).toEqual([])
})

test('a wrong body is refused with every mistake by path', async () => {
  const { surface } = peers()
  const answer = await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: ' ', tags: ['ok', '-bad'], agnet: 'demo' } })
  expect(answer.status).toBe(400)
  expect(answer.json).toMatchObject({ type: 'urn:pawl:problem:invalid', title: 'Invalid request', status: 400, code: 'invalid' })
  expect(answer.json.errors.map((error: { path: string }) => error.path)).toEqual(['prompt', 'tags.1', ''])
  expect(answer.json.errors[2].message).toBe('"agnet" is not known here; did you mean "agent"?')
})

test('text that no database can keep is refused where it stands', async () => {
  const { surface, runtime } = peers()
  const path = async (method: string, where: string, json?: unknown) => {
    const answer = await ask(surface, method, where, { json })
    expect(answer.status).toBe(400)
    return answer.json.errors.map((error: { path: string }) => error.path)
  }
  expect(await path('POST', '/api/v1/tasks', '{"prompt":"a\\u0000b"}')).toEqual(['prompt'])
  expect(await path('POST', '/api/v1/tasks', '{"prompt":"a","extraArgs":["ok","\\ud800"]}')).toEqual(['extraArgs.1'])
  expect(await path('GET', '/api/v1/tasks?text=%00&cursor=%00')).toEqual(['text', 'cursor'])
  expect(runtime.calls).toEqual([])
})

test('a body that is nested without end is refused with a sentence and in no time', async () => {
  const { surface } = peers()
  const deep = `${'['.repeat(100_000)}${']'.repeat(100_000)}`
  const startedAt = performance.now()
  for (const [method, path, json] of [
    ['PATCH', '/api/v1/config', `{"set":{"agents.x.options":${deep}}}`],
    ['POST', '/api/v1/tasks', `{"prompt":"x","outputSchema":{"a":${deep}}}`],
  ] as const) {
    const { status, json: told } = await ask(surface, method, path, { json })
    expect([path, status, told.detail]).toEqual([path, 400, expect.stringMatching(/nested more than 200 levels deep/)])
  }
  expect(performance.now() - startedAt).toBeLessThan(20_000)
})

test('cancel and retry take their option, or no body at all', async () => {
  const { surface, runtime } = peers()
  const { id } = await newTask(runtime)
  runtime.calls.length = 0
  await ask(surface, 'POST', `/api/v1/tasks/${id}/cancel`)
  await ask(surface, 'POST', `/api/v1/tasks/${id}/cancel`, { json: { now: true } })
  await ask(surface, 'POST', `/api/v1/tasks/${id}/retry`)
  await ask(surface, 'POST', `/api/v1/tasks/${id}/retry`, { json: { fresh: true } })
  expect(runtime.calls).toEqual([
    ['cancelTask', id, { ...owner, now: false }],
    ['cancelTask', id, { ...owner, now: true }],
    ['retryTask', id, { ...owner, fresh: false }],
    ['retryTask', id, { ...owner, fresh: true }],
  ])
  expect((await ask(surface, 'POST', `/api/v1/tasks/${id}/cancel`, { json: { force: true } })).status).toBe(400)
})

test('work is accepted, or rejected with a comment and not without', async () => {
  const { surface, runtime } = peers()
  const { id } = await newTask(runtime)
  runtime.calls.length = 0
  expect((await ask(surface, 'POST', `/api/v1/tasks/${id}/accept`)).json.state).toBe('completed')
  expect((await ask(surface, 'POST', `/api/v1/tasks/${id}/reject`, { json: { comment: ' Use tabs. ' } })).json.state).toBe(
    'queued',
  )
  for (const json of [{}, { comment: ' ' }, { comment: 'x', by: 'me' }])
    expect((await ask(surface, 'POST', `/api/v1/tasks/${id}/reject`, { json })).status).toBe(400)
  expect(runtime.calls).toEqual([
    ['acceptTask', id, owner],
    ['rejectTask', id, { ...owner, comment: 'Use tabs.' }],
  ])
})

test('sessions are listed, shown, adopted and stopped', async () => {
  const { surface, runtime } = peers()
  const { id, session } = await newTask(runtime)
  runtime.setState(id, 'running')
  runtime.calls.length = 0
  const listed = await ask(surface, 'GET', '/api/v1/sessions?agent=demo&limit=3')
  expect([listed.status, listed.json]).toMatchObject([200, { items: [{ id: session, agent: 'demo' }], next: null }])
  expect((await ask(surface, 'GET', `/api/v1/sessions/${session}`)).json).toMatchObject({ id: session, tasks: [] })
  expect((await ask(surface, 'POST', `/api/v1/sessions/${session}/stop`)).json).toMatchObject({ session, stopped: { id } })
  const again = await ask(surface, 'POST', `/api/v1/sessions/${session}/stop`, { json: { now: true } })
  expect(again.json).toEqual({ session, stopped: null })
  const chosen = await ask(surface, 'PUT', `/api/v1/sessions/${session}/choices`, { json: { profile: 'strict' } })
  expect(chosen.json).toMatchObject({ id: session, choices: { profile: 'strict', chosenAt: expect.any(String) } })
  const begun = await ask(surface, 'POST', '/api/v1/sessions', { json: { workspace: '/w' } })
  expect([begun.status, begun.headers.get('location')]).toEqual([201, `/api/v1/sessions/${begun.json.id}`])
  const adopted = await ask(surface, 'POST', '/api/v1/sessions/adopt', {
    json: { vendorId: 'v', agent: 'demo', workspace: '/w' },
  })
  expect([adopted.status, adopted.headers.get('location')]).toEqual([201, `/api/v1/sessions/${adopted.json.id}`])
  expect(adopted.json).toMatchObject({ vendorId: 'v', workspace: '/w' })
  expect(runtime.calls).toEqual([
    ['listSessions', { agent: 'demo', limit: 3 }],
    ['getSession', session],
    ['stopSession', session, { ...owner, now: false }],
    ['stopSession', session, { ...owner, now: true }],
    ['chooseForSession', session, { profile: 'strict' }],
    ['createSession', { workspace: '/w' }],
    ['adoptSession', { vendorId: 'v', agent: 'demo', workspace: '/w' }],
  ])
})

test('what cannot be a session or an adoption is refused by name', async () => {
  const { surface, runtime } = peers()
  const refused = async (method: string, path: string, json?: unknown) => {
    const { status, json: problem } = await ask(surface, method, `/api/v1/sessions${path}`, { json })
    return [status, problem.detail]
  }
  expect(await refused('GET', '?agnet=x')).toEqual([400, expect.stringContaining('did you mean "agent"?')])
  expect(await refused('GET', '/t_000000000000000000')).toEqual([404, expect.stringContaining('expected a session id')])
  expect(await refused('GET', '/s_000000000000000000')).toEqual([404, expect.stringContaining('no session')])
  expect(await refused('POST', '/adopt', { vendorId: 'v' })).toEqual([400, expect.stringContaining('workspace')])
  expect(await refused('POST', '/adopt', { vendorId: 'v', workspace: '/w', vendor: 1 })).toEqual([
    400,
    expect.stringContaining('"vendor" is not known here; did you mean "vendorId"?'),
  ])
  expect(await refused('DELETE', '/adopt')).toEqual([405, expect.stringContaining('POST')])
  expect(runtime.calls.map(([verb]) => verb)).toEqual(['getSession'])
})

test('events come in pages with Accept: application/json', async () => {
  const { surface, runtime } = peers()
  const { id } = await newTask(runtime)
  for (const text of ['2', '3']) runtime.emit(id, { type: 'agent.message', data: { text } })
  const page = async (query: string) => {
    const { json } = await ask(surface, 'GET', `/api/v1/tasks/${id}/events${query}`, { headers: { accept: 'application/json' } })
    return { seqs: json.items.map((event: { seq: number }) => event.seq), next: json.next }
  }
  expect(await page('')).toEqual({ seqs: [1, 2, 3], next: null })
  expect(await page('?limit=2')).toEqual({ seqs: [1, 2], next: '2' })
  expect(await page('?after=2&limit=2')).toEqual({ seqs: [3], next: null })
})

test('questions are listed and answered', async () => {
  const { surface, runtime } = peers()
  const { id } = await newTask(runtime)
  const question = runtime.ask(id, 'which?')
  expect((await ask(surface, 'GET', `/api/v1/questions?state=pending&task=${id}`)).json).toEqual({
    items: [question],
    next: null,
  })
  const answered = await ask(surface, 'POST', `/api/v1/questions/${question.id}/answer`, { json: { answer: 'blue' } })
  expect([answered.status, answered.json.answer]).toEqual([200, 'blue'])
  expect((await ask(surface, 'POST', `/api/v1/questions/${question.id}/answer`, { json: { answer: 'red' } })).status).toBe(409)
  expect((await ask(surface, 'POST', `/api/v1/questions/${question.id}/answer`, { json: { answer: '' } })).status).toBe(400)
})

test('what is no id names nothing', async () => {
  const { surface } = peers()
  for (const path of [
    '/api/v1/tasks/nope',
    '/api/v1/tasks/..%2f..%2fetc%2fpasswd',
    '/api/v1/tasks/t_%00',
    '/api/v1/nothing',
    '/nothing',
  ]) {
    const answer = await ask(surface, 'GET', path)
    expect([answer.status, answer.json.code, answer.headers.get('content-type')]).toEqual([
      404,
      'not_found',
      'application/problem+json',
    ])
  }
})

test('each code of the domain has its status', async () => {
  const { surface, runtime } = peers()
  const statuses = {
    invalid: 400,
    not_found: 404,
    conflict: 409,
    denied: 403,
    limited: 429,
    unsupported: 422,
    unavailable: 503,
    internal: 500,
  }
  for (const code of errorCodes) {
    runtime.failWith(new PawlError(code, `A sentence about ${code}.`, { details: { which: 'x' } }))
    const answer = await ask(surface, 'GET', '/api/v1/health')
    expect([answer.status, answer.json.code]).toEqual([statuses[code], code])
    expect(answer.headers.get('retry-after')).toBe(code === 'unavailable' || code === 'limited' ? '1' : null)
    if (code !== 'internal') expect(answer.json).toMatchObject({ detail: `A sentence about ${code}.`, details: { which: 'x' } })
  }
})

test('an unknown failure tells an id only; its cause is in the log under that id', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'json', now: () => 0, write: (line) => lines.push(line) })
  const { surface, runtime } = peers({ log })
  const { url } = await surface.start({ host: '127.0.0.1', port: 0, portAsked: true })
  for (const thrown of [new Error('password=hunter2 in /etc/secret'), new PawlError('internal', 'hunter2'), 'hunter2', null]) {
    runtime.failWith(thrown)
    const answer = await fetch(`${url}/api/v1/health`, { headers: { authorization: bearer } })
    expect(answer.status).toBe(500)
    const text = await answer.text()
    expect(text).not.toMatch(/hunter2|secret|\.ts|at /)
    expect(lines.find((line) => line.includes(JSON.parse(text).id))).toBeDefined()
  }
  await surface.stop()
  expect(lines.join()).toContain('hunter2')
})

test('every request leaves one line in the log, without query, token or control characters', async () => {
  const lines: string[] = []
  const log = createLog({ level: 'debug', format: 'text', now: () => 0, write: (line) => lines.push(line) })
  const { surface } = peers({ log })
  await ask(surface, 'GET', '/api/v1/tasks?text=private')
  await ask(surface, 'POST', '/api/v1/tasks', { json: { prompt: 'private' } })
  await ask(surface, 'GET', `/%0Aforged?token=${token}`, { headers: { authorization: null } })
  expect(lines.map((line) => line.replace(/ms=\d+/, 'ms=0').slice(25))).toEqual([
    'debug request method=GET path=/api/v1/tasks status=200 ms=0',
    'info request method=POST path=/api/v1/tasks status=201 ms=0',
    'debug request method=GET path=/%0Aforged status=401 ms=0',
  ])
})

test('every answer carries the security headers, refusals too', async () => {
  const { surface } = peers()
  for (const path of ['/healthz', '/api/v1/tasks', '/nothing', '/api/v1/tasks?x=1']) {
    const { headers } = await ask(surface, 'GET', path)
    expect({
      sniff: headers.get('x-content-type-options'),
      cache: headers.get('cache-control'),
      referrer: headers.get('referrer-policy'),
      csp: headers.get('content-security-policy'),
    }).toEqual({
      sniff: 'nosniff',
      cache: 'no-store',
      referrer: 'no-referrer',
      csp: "default-src 'none'; frame-ancestors 'none'",
    })
  }
})

test('liveness says ok and nothing else; readiness gives the reason', async () => {
  const { surface, runtime } = peers()
  const live = await ask(surface, 'GET', '/healthz', { headers: { authorization: null } })
  expect([live.status, live.text]).toEqual([200, 'ok'])
  expect((await ask(surface, 'GET', '/readyz')).json).toEqual({ ready: true })
  runtime.failWith(new PawlError('unavailable', 'The database is away.'))
  const away = await ask(surface, 'GET', '/readyz')
  expect([away.status, away.json.detail]).toEqual([503, 'The database is away.'])
  expect((await ask(surface, 'GET', '/healthz')).status).toBe(200)
})

test('shutdown answers first and stops then; where nothing can be stopped it is refused', async () => {
  let stopped = false
  const { surface } = peers({
    shutdown: () => {
      stopped = true
    },
  })
  expect((await ask(surface, 'POST', '/api/v1/shutdown')).status).toBe(202)
  await expect.poll(() => stopped).toBe(true)
  expect((await ask(peers().surface, 'POST', '/api/v1/shutdown')).status).toBe(422)
})
