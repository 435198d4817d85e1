import { sql } from 'kysely'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { mayUse, type Right, type Standing } from '../../src/domain/auth/role.ts'
import { newId } from '../../src/domain/id.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createEntrance } from '../../src/engine/auth/auth.ts'
import { declaredRights } from '../../src/surfaces/http/needs.ts'
import { makeParts } from '../engine/store.ts'
import { fakeRuntime } from '../fake-runtime.ts'
import { bearer, exchange, type Listening, listening, request, surfaceOver, token } from '../http-peer.ts'

/**
 * Every route × every way to ask for it. The routes, and the right that each needs, are read from the surface itself: a route that names no right is red, and one
 * that is new is tried without anybody writing a row for it.
 */
const declared = declaredRights(surfaceOver(fakeRuntime()).app)
const [ownTask, otherTask] = [newId('task', 0), newId('task', 1)]
const ids: Record<string, string> = {
  tasks: ownTask,
  sessions: newId('session', 0),
  questions: newId('question', 0),
  tokens: newId('token', 0),
}
const routes = [...declared].map(([route, right]) => {
  const [method, pattern] = route.split(' ') as [string, string]
  const path = pattern.replace(/:\w+/g, (_, at: number) => ids[pattern.slice(0, at).split('/').at(-2)!] ?? 'some-name')
  return { route, right: right as Right, method, path, body: method === 'GET' ? undefined : '{}' }
})

let peer: Listening
let shutdowns = 0
let close: () => Promise<void>
/** What somebody might show, by name. */
const shown: Record<string, string> = {}

beforeAll(async () => {
  const { db, log, addTask, addWorker, admit } = await makeParts((end) => {
    close = end
  })
  const audit = createAudit({ db, log, clock: systemClock })
  const entrance = createEntrance({ db, log, audit, clock: systemClock, homeToken: token })
  peer = await listening({ entrance, audit, shutdown: () => void shutdowns++ })
  const local = { by: 'test' }
  for (const role of ['viewer', 'operator', 'admin'] as const) {
    await entrance.createUser({ name: role, role }, local)
    shown[role] = (await entrance.createToken({ user: role }, local)).token
  }
  shown.hook = (await entrance.createToken({ kind: 'hook' }, local)).token
  const worker = await addWorker()
  for (const [name, id] of [
    ['agent', ownTask],
    ['agent of another task', otherTask],
    ['agent after its run', newId('task', 2)],
  ] as const) {
    const task = await addTask(id)
    const run = await admit(task, 1, worker)
    shown[name] = (await entrance.createToken({ kind: 'agent', task: id }, local)).token
    if (name === 'agent after its run') await sql`update pawl.runs set state = 'ended' where id = ${run.id}`.execute(db)
  }
  const spoilt = async (name: string, spoil: (id: string) => Promise<unknown>) => {
    const made = await entrance.createToken({ user: 'admin' }, local)
    await spoil(made.id)
    shown[name] = made.token
  }
  await spoilt('revoked', (id) => entrance.revokeToken(id, local))
  await spoilt('expired', (id) => sql`update pawl.tokens set expires_at = created_at where id = ${id}`.execute(db))
  await entrance.createUser({ name: 'disabled', role: 'admin' }, local)
  shown['of a disabled user'] = (await entrance.createToken({ user: 'disabled' }, local)).token
  await entrance.setUser('disabled', { isDisabled: true }, local)
  shown['of another home'] = `pawl_${'x'.repeat(43)}`
  shown.code = (await entrance.createSignInCode(local)).code
  shown.session = (await entrance.signIn((await entrance.createSignInCode(local)).code))!.session
})
afterAll(async () => {
  await peer.surface.stop()
  await close()
})

const send = (line: string, headers: readonly string[], body?: string) =>
  exchange(
    peer.port,
    request(
      line,
      [
        `Host: 127.0.0.1:${peer.port}`,
        // A stream would never end.
        'Accept: application/json',
        ...headers,
        ...(body ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`] : []),
      ],
      body,
    ),
  )

const auth = (value: string) => [`Authorization: ${value}`]
const as = (name: string) => auth(`Bearer ${shown[name]}`)
const swapCase = (text: string) =>
  text.replace(/[a-z]/gi, (sign) => (sign === sign.toLowerCase() ? sign.toUpperCase() : sign.toLowerCase()))
const cookie = () => `Cookie: pawl-session=${shown.session}`
const ownOrigin = () => `Origin: http://127.0.0.1:${peer.port}`

/** Nobody comes in by any of these. */
const strangers: Record<string, () => { headers?: string[]; query?: string }> = {
  none: () => ({}),
  empty: () => ({ headers: auth('') }),
  'scheme alone': () => ({ headers: auth('Bearer') }),
  'scheme and a space': () => ({ headers: auth('Bearer ') }),
  'token without scheme': () => ({ headers: auth(token) }),
  'other scheme': () => ({ headers: auth(`Basic ${Buffer.from(`pawl:${token}`).toString('base64')}`) }),
  wrong: () => ({ headers: auth('Bearer wrong-token-of-about-the-right-length') }),
  truncated: () => ({ headers: auth(bearer.slice(0, -1)) }),
  'made token, truncated': () => ({ headers: auth(`Bearer ${shown.admin!.slice(0, -1)}`) }),
  extended: () => ({ headers: auth(`${bearer}0`) }),
  'other case': () => ({ headers: auth(`Bearer ${swapCase(token)}`) }),
  'made token in other case': () => ({ headers: auth(`Bearer ${swapCase(shown.admin!)}`) }),
  expired: () => ({ headers: as('expired') }),
  'after revoke': () => ({ headers: as('revoked') }),
  'after the run ended': () => ({ headers: as('agent after its run') }),
  'of a disabled user': () => ({ headers: as('of a disabled user') }),
  'of another home': () => ({ headers: as('of another home') }),
  'a sign-in code as token': () => ({ headers: as('code') }),
  'a browser’s session as token': () => ({ headers: as('session') }),
  'in the query': () => ({ query: `token=${token}&access_token=${token}&authorization=Bearer%20${token}` }),
  'token in a cookie only': () => ({
    headers: [`Cookie: token=${token}; Authorization=${bearer}; pawl-session=${token}`, ownOrigin()],
  }),
  'made token as cookie': () => ({ headers: [`Cookie: pawl-session=${shown.admin}`, ownOrigin()] }),
  'session cookie alone': () => ({ headers: [cookie()] }),
  'session cookie by typed address': () => ({ headers: [cookie(), 'Sec-Fetch-Site: none'] }),
  'session cookie twice': () => ({ headers: [`${cookie()}; pawl-session=${shown.session}`, ownOrigin()] }),
  'session cookie under the name for TLS': () => ({ headers: [`Cookie: __Host-pawl=${shown.session}`, ownOrigin()] }),
  'in other headers': () => ({
    headers: [`X-Api-Key: ${token}`, `Proxy-Authorization: ${bearer}`, `X-Authorization: ${bearer}`],
  }),
  'right twice': () => ({ headers: [...auth(bearer), ...auth(bearer)] }),
  'wrong, then right': () => ({ headers: [...auth('Bearer wrong'), ...auth(bearer)] }),
  'bad token and good cookie': () => ({ headers: [...auth('Bearer wrong'), cookie(), ownOrigin()] }),
  'two in one header': () => ({ headers: auth(`${bearer}, ${bearer}`) }),
  'peer claims to be local': () => ({
    headers: ['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1', 'Forwarded: for=127.0.0.1'],
  }),
  'method override': () => ({ headers: ['X-HTTP-Method-Override: GET', 'X-HTTP-Method: GET'] }),
  'upgrade to WebSocket': () => ({
    headers: ['Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'],
  }),
}

const disguises: Record<string, (path: string) => string> = {
  'trailing slash': (path) => `${path}/`,
  'double slash': (path) => `/${path}`,
  'inner double slash': (path) => path.replace(/\/([^/]*)$/, '//$1'),
  'encoded slash': (path) =>
    path
      .replaceAll('/', '%2F')
      .replace('%2F', '/')
      .replace(/^(\/[^%]*)$/, '$1%2F'),
  'matrix dots': (path) => `/..;${path}`,
  'upper case': (path) => path.replace(/^(\/api\/v1\/[a-z]+|\/[a-z-]+)/, (known) => known.toUpperCase()),
  'a dot at the end': (path) => `${path}.`,
}

/** Who comes in by what they show, and stands for what. */
const standings: Record<string, Standing> = {
  admin: 'admin',
  operator: 'operator',
  viewer: 'viewer',
  hook: 'hook',
  agent: 'agent',
  'agent of another task': 'agent',
}
const gateClosed = [401, 403, 421, 429]

test('every route names the right it needs', () => {
  expect([...declared].filter(([, right]) => right === undefined).map(([route]) => route)).toEqual([])
  expect(routes.length).toBeGreaterThan(30)
})

test('users, tokens, secrets, the audit and stopping are for admins; nothing that writes is for those who only read', () => {
  const nouns = new Set(routes.filter(({ right }) => right === 'administer').map(({ path }) => path.split('/')[3]!))
  for (const noun of ['audit', 'backups', 'config', 'doctor', 'resume', 'secrets', 'shutdown', 'stop-all', 'tokens', 'users'])
    expect(
      routes.filter(({ path, right }) => path.split('/')[3] === noun && right !== 'administer'),
      noun,
    ).toEqual([])
  expect([...nouns]).toEqual(expect.arrayContaining(['audit', 'secrets', 'tokens', 'users']))
  expect(routes.filter(({ right }) => right === 'open').map(({ route }) => route)).toEqual([
    'GET /healthz',
    'GET /sign-in',
    'POST /sign-in',
    'GET /open',
    'GET /plain.css',
    'GET /',
    'GET /docs.css',
  ])
  const written = routes.filter(({ right, method }) => method !== 'GET' && (right === 'read' || right === 'read_task'))
  // It only says what would be decided.
  expect(written.map(({ route }) => route)).toEqual(['POST /api/v1/profiles/:name/explain'])
})

for (const { route, right, method, path, body } of routes) {
  const isOpen = right === 'open'

  test(`${route}: nobody comes in without a good token`, async () => {
    peer.runtime.calls.length = 0
    const unexpected: string[] = []
    const expectStranger = (name: string, { status, text }: { status: number; text: string }) => {
      if (isOpen ? status >= 500 || gateClosed.includes(status) : status !== 401) unexpected.push(`${name}: ${status}`)
      for (const secret of [token, ...Object.values(shown)])
        if (text.includes(secret)) unexpected.push(`${name}: the answer holds a token`)
    }
    for (const [name, make] of Object.entries(strangers)) {
      const { headers = [], query } = make()
      if (isOpen && query) continue
      expectStranger(name, await send(`${method} ${path}${query ? `?${query}` : ''}`, headers, body))
    }
    for (const other of ['HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'PROPFIND']) {
      const { status } = await send(`${other} ${path}`, [])
      if (status !== 401 && !(isOpen && status < 500)) unexpected.push(`${other} without token: ${status}`)
    }
    for (const [name, disguise] of Object.entries(disguises)) {
      if (route === 'GET /') break
      // Another name is no disguise.
      if (name === 'a dot at the end' && route.endsWith(':name')) continue
      const without = await send(`${method} ${disguise(path)}`, [], body)
      if (without.status !== 401) unexpected.push(`${name} (${disguise(path)}) without token: ${without.status}`)
      const reached = peer.runtime.calls.length
      const withToken = await send(`${method} ${disguise(path)}`, auth(bearer), body)
      peer.runtime.calls.length = reached
      if (![404, 405].includes(withToken.status)) unexpected.push(`${name} (${disguise(path)}) with token: ${withToken.status}`)
    }
    const oldClient = await exchange(peer.port, `${method} ${path} HTTP/1.0\r\nAuthorization: ${bearer}\r\n\r\n`)
    if (oldClient.status !== 400) unexpected.push(`HTTP/1.0 without Host: ${oldClient.status}`)
    expect(unexpected).toEqual([])
    expect(peer.runtime.calls).toEqual([])
    expect(shutdowns).toBe(0)
  })
}

for (const { route, right, method, path, body } of routes) {
  test(`${route}: open to those who have the right "${right}", closed to all others`, async () => {
    const unexpected: string[] = []
    for (const [name, standing] of Object.entries(standings)) {
      peer.runtime.calls.length = 0
      const { status } = await send(`${method} ${path}`, as(name), body)
      const isOthers = name === 'agent of another task' && right === 'read_task'
      const mayPass = mayUse(right, standing) && !isOthers
      if (mayPass ? gateClosed.includes(status) || status >= 500 : status !== 403) unexpected.push(`${name}: ${status}`)
      if (!mayPass && peer.runtime.calls.length > 0) unexpected.push(`${name}: refused, and done all the same`)
    }
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      const { status } = await send(`${method} ${path}`, auth(`${scheme} ${token}`), body)
      if (gateClosed.includes(status) || status >= 500) unexpected.push(`${scheme}: ${status}`)
    }
    // Leaving would end what the other rows come in by; http-sign-in.test.ts has it.
    if (route !== 'POST /sign-out') {
      const { status } = await send(`${method} ${path}`, [cookie(), ownOrigin(), 'Sec-Fetch-Site: same-origin'], body)
      // A browser signs in no other.
      const isUnexpected = route === 'POST /api/v1/sign-in-codes' ? status !== 403 : gateClosed.includes(status)
      if (isUnexpected || status >= 500) unexpected.push(`cookie with own origin: ${status}`)
    }
    for (const other of ['OPTIONS', 'TRACE', 'PROPFIND']) {
      const refused = await send(`${other} ${path}`, auth(bearer))
      if (refused.status !== 405 || !/^Allow: .*(GET|POST|PUT|PATCH|DELETE)/im.test(refused.text))
        unexpected.push(`${other}: ${refused.status}`)
      if (/access-control/i.test(refused.text)) unexpected.push(`${other}: a CORS header`)
    }
    expect(unexpected).toEqual([])
  })
}
