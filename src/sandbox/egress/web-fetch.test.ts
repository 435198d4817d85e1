import { once } from 'node:events'
import { createServer, type RequestListener, type Server } from 'node:http'
import { type AddressInfo, connect, type Socket } from 'node:net'
import { gzipSync } from 'node:zlib'
import { expect, test } from 'vitest'
import { denied } from '../../domain/error.ts'
import { createWebFetch } from './web-fetch.ts'

const open = async (host: string, port: number): Promise<Socket> => {
  const socket = connect(port, host)
  await once(socket, 'connect')
  return socket
}

async function serving(listener: RequestListener, use: (url: string, server: Server) => Promise<void>): Promise<void> {
  const server = createServer(listener).listen(0, '127.0.0.1')
  await once(server, 'listening')
  try {
    await use(`http://127.0.0.1:${(server.address() as AddressInfo).port}`, server)
  } finally {
    server.closeAllConnections()
    server.close()
  }
}

test('what is sent and what comes back are as the platform has them, packed answers and refusals too', () =>
  serving(
    (request, response) => {
      if (request.url === '/gone') return void response.writeHead(307, { location: 'http://169.254.169.254/' }).end()
      if (request.url === '/empty') return void response.writeHead(204).end()
      request.on('data', (chunk: Buffer) => {
        response.writeHead(200, { 'content-encoding': 'gzip', 'x-given': String(request.headers['x-given']) })
        response.end(gzipSync(`heard ${chunk}`))
      })
    },
    async (url) => {
      const fetch = createWebFetch(open)
      const answer = await fetch(`${url}/`, {
        method: 'POST',
        body: new URLSearchParams({ a: '1' }),
        headers: { 'x-given': 'yes' },
      })
      expect([answer.status, answer.headers.get('x-given'), await answer.text()]).toEqual([200, 'yes', 'heard a=1'])
      // Nothing is followed: where it leads is for whoever asked to judge.
      expect((await fetch(`${url}/gone`)).status).toBe(307)
      expect((await fetch(`${url}/empty`)).status).toBe(204)
      fetch.close()
      const closed = createWebFetch(async () => {
        throw denied('no way out')
      })
      await expect(closed(url)).rejects.toThrow('no way out')
    },
  ))

test('a kept connection that the other end has closed is not taken for a failure', () =>
  serving(
    (_, response) => response.end('here'),
    async (url, server) => {
      server.keepAliveTimeout = 0
      const sockets: Socket[] = []
      server.on('connection', (socket) => sockets.push(socket))
      const fetch = createWebFetch(open)
      expect(await (await fetch(url)).text()).toBe('here')
      // Closed while it lies idle, and unnoticed until it is used.
      const heard = fetch(url, { method: 'POST', body: 'x' })
      sockets[0]!.resetAndDestroy()
      expect(await (await heard).text()).toBe('here')
      expect(sockets).toHaveLength(2)
      fetch.close()
    },
  ))

test('an answer without an end is cut, and one who gives up is heard at once', () =>
  serving(
    (request, response) => {
      if (request.url === '/never') return
      const piece = Buffer.alloc(1024 * 1024, 'x')
      const pour = () => {
        while (!response.destroyed && response.write(piece));
        if (!response.destroyed) response.once('drain', pour)
      }
      pour()
    },
    async (url) => {
      const fetch = createWebFetch(open)
      await expect(fetch(`${url}/endless`).then((answer) => answer.arrayBuffer())).rejects.toThrow()
      const giveUp = new AbortController()
      const waiting = fetch(`${url}/never`, { signal: giveUp.signal })
      giveUp.abort()
      await expect(waiting).rejects.toThrow()
      fetch.close()
    },
  ))
