import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'
import { type Door, type DoorOptions, serveDoor } from '../engine/program/door.ts'
import { readRules } from './host-rule.ts'
import type { NetworkAccess, NetworkEvent } from './network.ts'

/** A door with a way out, on the loopback that this test shares with everybody. */
export interface OpenedDoor {
  readonly door: Door
  readonly listener: Server
  readonly port: number
  readonly url: string
  readonly events: NetworkEvent[]
  readonly asked: { host: string; port: number }[]
  /** Gives the door to a run with these rules. */
  bind(lists: Partial<Parameters<typeof readRules>[0]>, access?: Partial<NetworkAccess>): Promise<void>
}

export async function openDoor(options: Partial<DoorOptions> = {}): Promise<OpenedDoor> {
  const listener = createServer()
  await listen(listener)
  const door = serveDoor(listener, { token: 'the-token', ...options })
  const { port } = listener.address() as AddressInfo
  const events: NetworkEvent[] = []
  const asked: { host: string; port: number }[] = []
  const verbs = {
    describe: () => ({ task: 'task_1', run: 'run_1', attempt: 1 }),
    ask: async () => ({ id: 'question_1' }),
    consult: async () => undefined,
    notify: async () => undefined,
  }
  return {
    door,
    listener,
    port,
    url: `http://127.0.0.1:${port}`,
    events,
    asked,
    bind: (lists, access = {}) =>
      door.bind({
        ...verbs,
        network: {
          profile: 'guarded',
          rules: readRules({ allow: [], ask: [], deny: [], ...lists }),
          ask: async (target) => void asked.push(target),
          record: (event) => void events.push(event),
          ...access,
        },
      }),
  }
}

/** Counts whoever reaches it, and greets them. */
export async function startCanary(hosts: readonly string[] = ['127.0.0.1']) {
  const servers: Server[] = []
  let reached = 0
  let port = 0
  for (const host of hosts) {
    const server = createServer((socket) => {
      reached++
      socket.on('error', () => undefined).end('HTTP/1.1 200 OK\r\ncontent-length: 6\r\nconnection: close\r\n\r\ncanary')
    })
    await listen(server, host, port)
    port = (server.address() as AddressInfo).port
    servers.push(server)
  }
  return { port, reached: () => reached, close: () => Promise.all(servers.map((server) => server.close())) }
}

export async function startWebServer(serve: RequestListener) {
  const server = createHttpServer(serve)
  await listen(server)
  const { port } = server.address() as AddressInfo
  const close = async () => {
    server.closeAllConnections()
    await new Promise((done) => server.close(done))
  }
  return { server, port, close }
}

/** How the way out was asked for, and what came of it. */
export interface Tried {
  readonly opened: boolean
  /** All that came, the answer to the wish included. */
  readonly text: string
}

export const ways = {
  http: (door: number, host: Buffer, port: number) =>
    speak(
      door,
      Buffer.concat([Buffer.from('GET http://'), host, Buffer.from(`:${port}/ HTTP/1.1\r\nhost: x\r\n\r\n`)]),
      /^HTTP\/1\.1 2/,
    ),
  connect: (door: number, host: Buffer, port: number) =>
    speak(
      door,
      Buffer.concat([Buffer.from('CONNECT '), host, Buffer.from(`:${port} HTTP/1.1\r\nhost: x\r\n\r\n`)]),
      /^HTTP\/1\.1 2/,
    ),
  socks4a: (door: number, host: Buffer, port: number) =>
    speak(door, Buffer.concat([Buffer.from([4, 1, port >> 8, port & 255, 0, 0, 0, 1, 0]), host, Buffer.from([0])]), /^\0\x5a/),
  socks5: (door: number, host: Buffer, port: number) =>
    speak(
      door,
      Buffer.concat([Buffer.from([5, 1, 0, 5, 1, 0, 3, host.length]), host, Buffer.from([port >> 8, port & 255])]),
      /^\x05\0\x05\0/,
    ),
} satisfies Record<string, (door: number, host: Buffer, port: number) => Promise<Tried>>

/** Sends bytes and reads to the end. */
export async function speak(door: number, bytes: Buffer, success = /^/): Promise<Tried> {
  const socket = connect(door, '127.0.0.1').on('error', () => undefined)
  let text = ''
  socket.on('data', (chunk) => {
    text += chunk.toString('latin1')
  })
  socket.write(bytes)
  await once(socket, 'close')
  return { opened: success.test(text), text }
}

/** A tunnel by CONNECT, open. */
export async function openTunnel(door: number, authority: string): Promise<Socket> {
  const socket = connect(door, '127.0.0.1').on('error', () => undefined)
  socket.write(`CONNECT ${authority} HTTP/1.1\r\nhost: x\r\n\r\n`)
  const [head] = (await once(socket, 'data')) as [Buffer]
  if (!head.toString().startsWith('HTTP/1.1 200')) throw new Error(head.toString())
  return socket
}

export const listen = (server: Server, host = '127.0.0.1', port = 0) =>
  new Promise<void>((up, fail) => server.once('error', fail).listen(port, host, up))
