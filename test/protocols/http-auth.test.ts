import { afterAll, beforeAll, expect, test } from 'vitest'
import { newId } from '../../src/domain/id.ts'
import { bearer, exchange, type Listening, listening, request, token } from '../http-peer.ts'

/** Every route with a request that a holder of the token may make. A route without a row makes the first test fail. */
const unknownTask = newId('task', 0)
const unknownSession = newId('session', 0)
const unknownQuestion = newId('question', 0)
const rows: Record<string, { path: string; status: number; body?: string }> = {
  'POST /api/v1/tasks': { path: '/api/v1/tasks', status: 201, body: '{"prompt":"p"}' },
  'GET /api/v1/tasks': { path: '/api/v1/tasks', status: 200 },
  'GET /api/v1/tasks/:id': { path: `/api/v1/tasks/${unknownTask}`, status: 404 },
  'POST /api/v1/tasks/:id/cancel': { path: `/api/v1/tasks/${unknownTask}/cancel`, status: 404, body: '{}' },
  'POST /api/v1/tasks/:id/retry': { path: `/api/v1/tasks/${unknownTask}/retry`, status: 404, body: '{}' },
  'GET /api/v1/tasks/:id/events': { path: `/api/v1/tasks/${unknownTask}/events`, status: 404 },
  'GET /api/v1/sessions': { path: '/api/v1/sessions', status: 200 },
  'POST /api/v1/sessions/adopt': { path: '/api/v1/sessions/adopt', status: 201, body: '{"vendorId":"v","workspace":"/w"}' },
  'GET /api/v1/sessions/:id': { path: `/api/v1/sessions/${unknownSession}`, status: 404 },
  'POST /api/v1/sessions/:id/stop': { path: `/api/v1/sessions/${unknownSession}/stop`, status: 404, body: '{}' },
  'GET /api/v1/questions': { path: '/api/v1/questions', status: 200 },
  'POST /api/v1/questions/:id/answer': {
    path: `/api/v1/questions/${unknownQuestion}/answer`,
    status: 404,
    body: '{"answer":"a"}',
  },
  'GET /api/v1/agents': { path: '/api/v1/agents', status: 200 },
  'GET /api/v1/health': { path: '/api/v1/health', status: 200 },
  'GET /healthz': { path: '/healthz', status: 200 },
  'GET /readyz': { path: '/readyz', status: 200 },
  'POST /api/v1/shutdown': { path: '/api/v1/shutdown', status: 202, body: '{}' },
  'GET /api/v1/openapi.json': { path: '/api/v1/openapi.json', status: 200 },
}

let peer: Listening
let shutdowns = 0
beforeAll(async () => {
  peer = await listening({ shutdown: () => void shutdowns++ })
})
afterAll(() => peer.surface.stop())

const send = (line: string, headers: string[], body?: string) =>
  exchange(
    peer.port,
    request(
      line,
      [
        `Host: 127.0.0.1:${peer.port}`,
        ...headers,
        ...(body ? ['Content-Type: application/json', `Content-Length: ${Buffer.byteLength(body)}`] : []),
      ],
      body,
    ),
  )

const auth = (value: string) => [`Authorization: ${value}`]
const flip = token.replace(/[a-z]/g, (letter) => letter.toUpperCase())
const noEntry: Record<string, { headers?: string[]; query?: string }> = {
  none: {},
  empty: { headers: auth('') },
  'scheme alone': { headers: auth('Bearer') },
  'scheme and a space': { headers: auth('Bearer ') },
  'token without scheme': { headers: auth(token) },
  'other scheme': { headers: auth(`Basic ${Buffer.from(`pawl:${token}`).toString('base64')}`) },
  wrong: { headers: auth('Bearer wrong-token-of-about-the-right-length') },
  truncated: { headers: auth(bearer.slice(0, -1)) },
  extended: { headers: auth(`${bearer}0`) },
  'other case': { headers: auth(`Bearer ${flip}`) },
  'in the query': { query: `token=${token}&access_token=${token}&authorization=Bearer%20${token}` },
  'in a cookie only': { headers: [`Cookie: token=${token}; Authorization=${bearer}`] },
  'in other headers': { headers: [`X-Api-Key: ${token}`, `Proxy-Authorization: ${bearer}`, `X-Authorization: ${bearer}`] },
  'right twice': { headers: [...auth(bearer), ...auth(bearer)] },
  'wrong, then right': { headers: [...auth('Bearer wrong'), ...auth(bearer)] },
  'two in one header': { headers: auth(`${bearer}, ${bearer}`) },
  'peer claims to be local': { headers: ['X-Forwarded-For: 127.0.0.1', 'X-Real-IP: 127.0.0.1', 'Forwarded: for=127.0.0.1'] },
  'method override': { headers: ['X-HTTP-Method-Override: GET', 'X-HTTP-Method: GET'] },
  'upgrade to WebSocket': {
    headers: ['Upgrade: websocket', 'Sec-WebSocket-Key: dGhlIHNhbXBsZSBub25jZQ==', 'Sec-WebSocket-Version: 13'],
  },
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
  'upper case': (path) => path.replace(/^(\/api\/v1\/[a-z]+|\/[a-z]+)/, (known) => known.toUpperCase()),
  'a dot at the end': (path) => `${path}.`,
}

test('every route has a row in this table, and every row a route', () => {
  const routes = peer.surface.app.routes.filter((route) => route.method !== 'ALL').map(({ method, path }) => `${method} ${path}`)
  expect([...new Set(routes)].sort()).toEqual(Object.keys(rows).sort())
})

for (const [route, { path, body }] of Object.entries(rows)) {
  const method = route.split(' ')[0]!
  const isLiveness = path === '/healthz'

  test(`${route}: only the token opens it`, async () => {
    peer.runtime.calls.length = 0
    const unexpected: string[] = []
    for (const [name, { headers = [], query }] of Object.entries(noEntry)) {
      const answer = await send(`${method} ${path}${query ? `?${query}` : ''}`, headers, body)
      if (answer.status !== (isLiveness ? 200 : 401)) unexpected.push(`${name}: ${answer.status}`)
      if (answer.text.includes(token)) unexpected.push(`${name}: the answer holds the token`)
    }
    for (const other of ['HEAD', 'OPTIONS', 'TRACE', 'PUT', 'PATCH', 'DELETE', 'POST', 'GET', 'PROPFIND']) {
      const answer = await send(`${other} ${path}`, [])
      const open = isLiveness && (other === 'GET' || other === 'HEAD')
      if (answer.status !== (open ? 200 : 401)) unexpected.push(`${other} without token: ${answer.status}`)
    }
    for (const [name, disguise] of Object.entries(disguises)) {
      const answer = await send(`${method} ${disguise(path)}`, [], body)
      if (answer.status !== 401) unexpected.push(`${name} (${disguise(path)}) without token: ${answer.status}`)
      const withToken = await send(`${method} ${disguise(path)}`, auth(bearer), body)
      if (withToken.status !== 404) unexpected.push(`${name} (${disguise(path)}) with token: ${withToken.status}`)
    }
    const oldClient = await exchange(peer.port, `${method} ${path} HTTP/1.0\r\nAuthorization: ${bearer}\r\n\r\n`)
    if (oldClient.status !== 400) unexpected.push(`HTTP/1.0 without Host: ${oldClient.status}`)
    expect(unexpected).toEqual([])
    expect(peer.runtime.calls).toEqual([])
    expect(shutdowns).toBe(0)
  })
}

for (const [route, { path, status, body }] of Object.entries(rows)) {
  test(`${route}: the token opens it, whatever the case of the scheme`, async () => {
    const [method] = route.split(' ')
    for (const scheme of ['Bearer', 'bearer', 'BEARER']) {
      expect((await send(`${method} ${path}`, auth(`${scheme} ${token}`), body)).status).toBe(status)
    }
    for (const other of ['OPTIONS', 'TRACE', 'DELETE']) {
      const refused = await send(`${other} ${path}`, auth(bearer))
      expect(refused.status).toBe(405)
      expect(refused.text).toMatch(/^Allow: .*(GET|POST)/im)
      expect(refused.text).not.toMatch(/access-control/i)
    }
  })
}
