import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { type DaemonUnderTest, startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, ms, quantile } from './figure.ts'
import { inPlace } from './place.ts'

const streams = 1_000
const tasks = 10
const seconds = 10
/** Ten lines a second, each with the time of its printing. */
const speaker = `const until = Date.now() + ${(4 * seconds + 60) * 1000}; const timer = setInterval(() => { process.stdout.write('at=' + Date.now() + ';\\n'); if (Date.now() > until) clearInterval(timer) }, 100)`

export const benchmark: Benchmark = {
  about: `${streams} streams of A2A over ${tasks} tasks that each say ten things a second, from printed to read; against our own event streams`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const agents = { speaker: { command: [process.execPath, '--eval', speaker] } }
      const daemon = await startDaemon(place, { settings: { agents, limits: { running: tasks } }, profileDir })
      const made = await Promise.all(Array.from({ length: tasks }, () => daemon.createTask({ agent: 'speaker' })))
      const of = (n: number) => made[n % tasks]!.id
      const { host } = new URL(daemon.url)
      const bearer = `Host: ${host}\r\nAuthorization: Bearer ${daemon.token}`
      const asked = (path: string, body: string) =>
        `POST ${path} HTTP/1.1\r\n${bearer}\r\nA2A-Version: 1.0\r\nContent-Type: application/json\r\nContent-Length: ${body.length}\r\n\r\n${body}`
      const kinds = {
        'HTTP+JSON': (n: number) => asked(`/a2a/tasks/${of(n)}:subscribe`, '{}'),
        'JSON-RPC': (n: number) =>
          asked('/a2a', JSON.stringify({ jsonrpc: '2.0', id: n, method: 'SubscribeToTask', params: { id: of(n) } })),
        events: (n: number) => `GET /api/v1/tasks/${of(n)}/events HTTP/1.1\r\n${bearer}\r\nAccept: text/event-stream\r\n\r\n`,
      }
      const found = new Map<string, Read>()
      for (const [kind, request] of Object.entries(kinds)) {
        found.set(kind, await read(daemon, request))
        const { delays, cpuMs } = found.get(kind)!
        say(`${kind}: ${delays.length} updates read, ${((cpuMs * 1000) / delays.length).toFixed(0)} µs of the daemon's CPU each`)
      }
      for (const { id } of made) await daemon.cancelTask(id)
      const peer = found.get('events')!
      const peerP99 = quantile(peer.delays, 0.99)
      return (['HTTP+JSON', 'JSON-RPC'] as const).map((kind) => {
        const p99 = quantile(found.get(kind)!.delays, 0.99)
        return {
          name: `updates to ${streams} A2A streams, ${kind}, p99`,
          ours: ms(p99),
          peer: `${ms(peerP99)} event streams`,
          ratio: p99 / peerP99,
          target: '≤ 250 ms',
          isMet: p99 <= 250,
        }
      })
    }),
}

interface Read {
  readonly delays: number[]
  readonly cpuMs: number
}

/** Opens the streams, waits until all of them hear, then counts for some seconds. */
async function read(daemon: DaemonUnderTest, request: (n: number) => string): Promise<Read> {
  const { hostname, port } = new URL(daemon.url)
  const delays: number[] = []
  const sockets: Socket[] = []
  let heard = 0
  let counting = false
  for (let n = 0; n < streams; n++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    socket.write(request(n))
    let first = true
    socket.setEncoding('latin1')
    socket.on('data', (text: string) => {
      const now = Date.now()
      for (let at = text.indexOf('at='); at !== -1; at = text.indexOf('at=', at + 3)) {
        if (first) heard++
        first = false
        if (counting) delays.push(now - Number(text.slice(at + 3, at + 16)))
      }
    })
    await once(socket, 'connect')
  }
  for (const deadline = Date.now() + 60_000; heard < streams; await pause(50)) {
    if (Date.now() > deadline) throw new Error(`Only ${heard} of ${streams} streams hear anything.`)
  }
  // What a late reader had to catch up on is not counted.
  await pause(2_000)
  const before = usageOf(daemon.pid).cpuMs
  counting = true
  await pause(seconds * 1_000)
  counting = false
  const cpuMs = usageOf(daemon.pid).cpuMs - before
  for (const socket of sockets) socket.destroy()
  return { delays, cpuMs }
}

const pause = (forMs: number) => new Promise((done) => setTimeout(done, forMs))
