import { type DaemonUnderTest, startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, ms, quantile } from './figure.ts'
import { inPlace } from './place.ts'
import { readSpeakers, speaker } from './readers.ts'

const streams = 1_000
const tasks = 10
const seconds = 10

export const benchmark: Benchmark = {
  about: `${streams} streams of A2A over ${tasks} tasks that each say ten things a second, from printed to read; against our own event streams`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const agents = { speaker: { command: [process.execPath, '--eval', speaker((4 * seconds + 60) * 1_000)] } }
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

async function read({ url, pid }: DaemonUnderTest, request: (n: number) => string): Promise<Read> {
  let cpuMs = 0
  const delays = await readSpeakers({ url, readers: streams, seconds, patienceMs: 60_000 }, request, {
    begin: () => (cpuMs -= usageOf(pid).cpuMs),
    end: () => (cpuMs += usageOf(pid).cpuMs),
  })
  return { delays, cpuMs }
}
