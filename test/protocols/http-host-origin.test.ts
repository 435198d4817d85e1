import { afterAll, beforeAll, expect, test } from 'vitest'
import { bearer, exchange, type Listening, listening, request } from '../http-peer.ts'

let peer: Listening
let task: string
beforeAll(async () => {
  peer = await listening({ allowedHosts: ['Pawl.Example'] })
  task = (await peer.runtime.createTask({ prompt: 'p' }, { by: 'test' })).task.id
  peer.runtime.setState(task, 'completed')
})
afterAll(() => peer.surface.stop())

/** `$` stands for the bound port. */
const hosts: Record<string, boolean> = {
  '127.0.0.1:$': true,
  'localhost:$': true,
  '[::1]:$': true,
  'LOCALHOST:$': true,
  'pawl.example': true,
  '127.0.0.1': false,
  localhost: false,
  '127.0.0.1:1': false,
  '127.0.0.1:$0': false,
  '[::ffff:127.0.0.1]:$': false,
  'localhost.:$': false,
  '0.0.0.0:$': false,
  '127.1:$': false,
  '2130706433:$': false,
  '0x7f000001:$': false,
  'attacker.example': false,
  'attacker.example:$': false,
  'localhost.attacker.example:$': false,
  '127.0.0.1.nip.example:$': false,
  'pawl.example:$': false,
  'user@127.0.0.1:$': false,
  '127.0.0.1:$, attacker.example': false,
  '127.0.0.1:$/': false,
  '': false,
}

const origins: Record<string, boolean> = {
  none: true,
  'http://127.0.0.1:$': true,
  'http://localhost:$': true,
  'https://pawl.example': true,
  null: false,
  'http://attacker.example': false,
  'https://127.0.0.1:$': false,
  'http://127.0.0.1:1': false,
  'http://127.0.0.1': false,
  'http://127.0.0.1:$/': false,
  'http://127.0.0.1:$.attacker.example': false,
  'file://': false,
  'chrome-extension://abcdefghijklmnop': false,
  '': false,
}

const requests: Record<string, { line: () => string; headers: string[]; body?: string; status: number }> = {
  GET: { line: () => 'GET /api/v1/tasks', headers: [], status: 200 },
  'POST json': {
    line: () => 'POST /api/v1/tasks',
    headers: ['Content-Type: application/json'],
    body: '{"prompt":"p"}',
    status: 201,
  },
  'POST text/plain': {
    line: () => 'POST /api/v1/tasks',
    headers: ['Content-Type: text/plain'],
    body: '{"prompt":"p"}',
    status: 415,
  },
  SSE: { line: () => `GET /api/v1/tasks/${task}/events?until=rest`, headers: ['Accept: text/event-stream'], status: 200 },
  WebSocket: { line: () => 'GET /api/v1/tasks', headers: ['Upgrade: websocket', 'Sec-WebSocket-Version: 13'], status: 200 },
  'sign-in page': { line: () => 'GET /sign-in', headers: [], status: 200 },
  'another method': { line: () => 'PATCH /api/v1/tasks', headers: [], status: 405 },
  liveness: { line: () => 'GET /healthz', headers: [], status: 200 },
}

for (const [name, { line, headers, body, status }] of Object.entries(requests)) {
  test(`${name}: only the right Hosts with the right Origins pass`, async () => {
    const unexpected: string[] = []
    for (const [host, hostIsRight] of Object.entries(hosts)) {
      for (const [origin, originIsRight] of Object.entries(origins)) {
        const fill = (text: string) => text.replace('$', String(peer.port))
        const answer = await exchange(
          peer.port,
          request(
            line(),
            [
              `Host: ${fill(host)}`,
              `Authorization: ${bearer}`,
              ...headers,
              ...(origin === 'none' ? [] : [`Origin: ${fill(origin)}`]),
              ...(body ? [`Content-Length: ${body.length}`] : []),
            ],
            body,
          ),
        )
        const expected = !hostIsRight ? [400, 421] : !originIsRight ? [403] : [status]
        if (!expected.includes(answer.status)) unexpected.push(`Host ${host}, Origin ${origin}: ${answer.status}`)
        if (/access-control-allow/i.test(answer.text)) unexpected.push(`Host ${host}, Origin ${origin}: a CORS header`)
      }
    }
    expect(unexpected).toEqual([])
  })
}

test('no Host, two Hosts, and a target that names its own host are refused', async () => {
  const right = `Host: 127.0.0.1:${peer.port}`
  const token = `Authorization: ${bearer}`
  const ask = async (line: string, headers: string[]) => (await exchange(peer.port, request(line, headers))).status
  expect(await ask('GET /api/v1/tasks', [token])).toBe(400)
  expect(await ask('GET /api/v1/tasks', [right, right, token])).toBe(400)
  expect(await ask('GET /api/v1/tasks', [right, 'Host: attacker.example', token])).toBe(400)
  expect(await ask(`GET http://attacker.example/api/v1/tasks`, [right, token])).toBe(400)
  expect(await ask(`GET http://127.0.0.1:${peer.port}/api/v1/tasks`, [right, token])).toBe(400)
  expect(await ask('GET api/v1/tasks', [right, token])).toBe(400)
  expect(await ask('OPTIONS *', [right, token])).toBe(400)
})

test('forwarding headers change nothing', async () => {
  const forwarded = [
    'X-Forwarded-Host: 127.0.0.1',
    `Forwarded: host=127.0.0.1:${peer.port}`,
    `X-Original-Host: 127.0.0.1:${peer.port}`,
  ]
  const answer = await exchange(
    peer.port,
    request('GET /api/v1/tasks', ['Host: attacker.example', `Authorization: ${bearer}`, ...forwarded]),
  )
  expect(answer.status).toBe(421)
})

test('a request that a browser marks as coming from another site or port is refused', async () => {
  for (const [site, status] of Object.entries({ 'cross-site': 403, 'same-site': 403, 'same-origin': 200, none: 200 })) {
    const headers = [`Host: 127.0.0.1:${peer.port}`, `Authorization: ${bearer}`, `Sec-Fetch-Site: ${site}`]
    expect((await exchange(peer.port, request('GET /api/v1/tasks', headers))).status, site).toBe(status)
  }
})
