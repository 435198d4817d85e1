import { once } from 'node:events'
import { createServer as createHttpServer, type RequestListener } from 'node:http'
import { type AddressInfo, connect, createServer, type Server, type Socket } from 'node:net'

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

/** Names that the resolver of a test knows, and where they lead. */
export const names: Record<string, string[]> = {
  'loops.example': ['127.0.0.1'],
  'loops6.example': ['::1'],
  'both.example': ['93.184.215.14', '127.0.0.1'],
  'both6.example': ['2606:4700::1111', '::1'],
  'mapped.example': ['::ffff:127.0.0.1'],
  'zero.example': ['0.0.0.0'],
  'private.example': ['10.0.0.1'],
  'shared.example': ['100.64.0.1'],
  'metadata.google.internal': ['169.254.169.254'],
  'instance-data.ec2.internal': ['169.254.169.254'],
  localhost: ['127.0.0.1'],
  'ip6-localhost': ['::1'],
  'app.localhost': ['127.0.0.1'],
  // What a resolver would make of numbers, if it were ever asked.
  ...Object.fromEntries(
    ['127.1', '127.0.1', '2130706433', '0x7f000001', '0x7f.1', '0177.0.0.1', '017700000001', '0'].map((n) => [n, ['127.0.0.1']]),
  ),
}

/** Ways to write this machine, its network, or what lies beside it. */
export const hosts = [
  ...[
    '127.0.0.1',
    '127.1',
    '127.0.1',
    '2130706433',
    '0x7f000001',
    '0x7f.1',
    '0177.0.0.1',
    '017700000001',
    '127.0.0.1.',
    '127.0.0.2',
  ],
  ...[
    '0.0.0.0',
    '0',
    '[::1]',
    '[0:0:0:0:0:0:0:1]',
    '[::]',
    '[::ffff:127.0.0.1]',
    '[::ffff:7f00:1]',
    '[::127.0.0.1]',
    '[64:ff9b::7f00:1]',
  ],
  ...[
    '[2002:7f00:1::]',
    '[2001:0:7f00:1::]',
    '[::1%lo]',
    '[::1%25lo]',
    '[fe80::1]',
    '169.254.169.254',
    '[fd00:ec2::254]',
    '100.100.100.200',
  ],
  ...[
    'localhost',
    'LOCALHOST',
    'localhost.',
    'ip6-localhost',
    'app.localhost',
    'metadata.google.internal',
    'instance-data.ec2.internal',
  ],
  ...['loops.example', 'LOOPS.example.', 'loops6.example', 'both.example', 'both6.example', 'mapped.example', 'zero.example'],
  ...['private.example', 'shared.example', 'good.example@127.0.0.1', '127.0.0.1@good.example', '127.0.0.1\0.good.example'],
  ...[
    '127.0.0.1%00.good.example',
    '127.0.0.1#.good.example',
    '127.0.0.1?.good.example',
    '127.0.0.1/.good.example',
    '127.0.0.1\\.good.example',
  ],
  ...[
    '１２７.0.0.1',
    '127。0。0。1',
    'ⓛocalhost',
    '127.0.0.1 good.example',
    '127.0.0.1\t',
    'xn--127.0.0.1',
    '',
    '.',
    '[',
    '[]',
    '[127.0.0.1]',
  ],
]
