import { once } from 'node:events'
import { createServer as createTls } from 'node:https'
import type { AddressInfo } from 'node:net'
import { afterEach, expect, it } from 'vitest'
import { ask, provider, providerKey, route, routingOf, startStage } from '../../../test/gateway/stage.ts'
import { selfSigned } from '../../../test/self-signed.ts'

const closers: (() => Promise<unknown>)[] = []
afterEach(async () => {
  for (const close of closers.splice(0).toReversed()) await close()
})

async function startTlsProvider(name: string) {
  const { cert, key } = selfSigned(name)
  const keys: unknown[] = []
  const server = createTls({ cert, key }, (request, response) => {
    keys.push(request.headers['x-api-key'])
    response.end('{"stop_reason":"end_turn","usage":{"input_tokens":1,"output_tokens":2}}')
  })
  server.on('tlsClientError', () => undefined)
  server.listen(0, '127.0.0.1')
  await once(server, 'listening')
  closers.push(async () => {
    server.close()
    server.closeAllConnections()
  })
  return { cert, keys, port: (server.address() as AddressInfo).port }
}

async function asked(url: string, ca: string | undefined) {
  const stage = await startStage(routingOf(route('fast', provider('maker', 'anthropic', url))), { ca })
  closers.push(stage.close)
  return { stage, got: await ask(`${stage.url}/v1/messages`, { body: '{"model":"fast","messages":[]}' }) }
}

it('a provider proves who it is before it gets the key', async () => {
  const { cert, keys, port } = await startTlsProvider('localhost')
  const unknown = await asked(`https://localhost:${port}`, undefined)
  expect(unknown.got.status).toBe(502)
  expect(unknown.got.body.toString()).toContain('could not be reached (DEPTH_ZERO_SELF_SIGNED_CERT)')
  expect(unknown.stage.ledger).toMatchObject({ settled: [], released: [{}] })
  const other = await asked(`https://127.0.0.1:${port}`, cert)
  expect(other.got.body.toString()).toContain('ERR_TLS_CERT_ALTNAME_INVALID')
  expect(keys).toEqual([])
  const known = await asked(`https://localhost:${port}`, cert)
  expect(known.got.status).toBe(200)
  expect(keys).toEqual([providerKey])
})

it('no switch in the environment turns that off, and no proxy of the environment is used', async () => {
  const { keys, port } = await startTlsProvider('localhost')
  const names = ['NODE_TLS_REJECT_UNAUTHORIZED', 'HTTPS_PROXY', 'HTTP_PROXY', 'NODE_USE_ENV_PROXY']
  const before = names.map((name) => process.env[name])
  process.env.NODE_TLS_REJECT_UNAUTHORIZED = '0'
  process.env.HTTPS_PROXY = 'http://127.0.0.1:9'
  process.env.HTTP_PROXY = 'http://127.0.0.1:9'
  process.env.NODE_USE_ENV_PROXY = '1'
  try {
    const { got } = await asked(`https://localhost:${port}`, undefined)
    expect(got.body.toString()).toContain('DEPTH_ZERO_SELF_SIGNED_CERT')
    expect(keys).toEqual([])
  } finally {
    for (const [at, name] of names.entries()) {
      if (before[at] === undefined) delete process.env[name]
      else process.env[name] = before[at]
    }
  }
})
