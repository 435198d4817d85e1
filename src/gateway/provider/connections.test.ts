import { once } from 'node:events'
import { createServer, type RequestListener } from 'node:http'
import type { AddressInfo } from 'node:net'
import { buffer } from 'node:stream/consumers'
import { afterEach, expect, it } from 'vitest'
import { systemClock } from '../../clock.ts'
import { GoneSignal } from '../client/gone.ts'
import { createUpstream } from './upstream.ts'

const closers: (() => unknown)[] = []
afterEach(() => {
  for (const close of closers.splice(0)) close()
})

async function start(answer: RequestListener) {
  const server = createServer(answer).listen(0, '127.0.0.1')
  await once(server, 'listening')
  const connected: string[] = []
  server.on('connection', ({ remotePort }) => connected.push(String(remotePort)))
  const upstream = createUpstream({ clock: systemClock, limits: { connectMs: 5_000, firstByteMs: 5_000 } })
  closers.push(
    () => upstream.close(),
    () => server.close(),
    () => server.closeAllConnections(),
  )
  const baseUrl = `http://127.0.0.1:${(server.address() as AddressInfo).port}`
  const signal = new GoneSignal()
  const send = () => upstream.send({ method: 'POST', baseUrl, path: '/', headers: [], body: Buffer.from('{}'), signal })
  const ask = async () => {
    const said = String(await buffer(await send()))
    // It is free after all who hear of the end.
    await new Promise((free) => setTimeout(free, 10))
    return said
  }
  return { server, upstream, connected, send, ask }
}

it('a connection serves one request after the other, and others are opened beside it', async () => {
  const { connected, ask } = await start((request, response) => response.end(String(request.socket.remotePort)))
  expect([await ask(), await ask(), await ask()]).toEqual([connected[0], connected[0], connected[0]])
  expect(new Set(await Promise.all([ask(), ask()])).size).toBe(2)
  expect(connected).toHaveLength(2)
})

it.each([
  ['that the server closes after an answer', { connection: 'close' }],
  ['that the server would close in a moment', { connection: 'keep-alive', 'keep-alive': 'timeout=1' }],
])('one is not kept %s', async (_, headers) => {
  const { connected, ask } = await start((_request, response) => response.writeHead(200, headers).end('{}'))
  for (let n = 0; n < 2; n++) await ask()
  expect(connected).toHaveLength(2)
})

it('one that has ended while nobody used it is not used again', async () => {
  const { server, connected, ask } = await start((_, response) => response.end('{}'))
  await ask()
  server.closeAllConnections()
  await new Promise((seen) => setTimeout(seen, 50))
  expect(await ask()).toBe('{}')
  expect(connected).toHaveLength(2)
})

it('one that breaks as soon as it is used again had ended before: it is asked once more, by a new one', async () => {
  let count = 0
  const { connected, ask } = await start((request, response) => (++count === 2 ? request.socket.destroy() : response.end('{}')))
  expect([await ask(), await ask()]).toEqual(['{}', '{}'])
  expect(connected).toHaveLength(2)
})

it('one whose answer was not read to its end is not used again', async () => {
  const { connected, send } = await start((_, response) => void response.write('{'))
  const answer = await send()
  answer.destroy()
  await once(answer, 'close')
  const other = await send()
  other.destroy()
  expect(connected).toHaveLength(2)
})

it('after the end none is kept', async () => {
  const { server, upstream, ask } = await start((_, response) => response.end('{}'))
  await ask()
  upstream.close()
  await ask()
  const left = await new Promise<number>((resolve, reject) =>
    server.getConnections((error, open) => (error ? reject(error) : resolve(open))),
  )
  expect(left).toBe(0)
})
