import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { connect, type Socket } from 'node:net'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, mib, ms, quantile } from './figure.ts'
import { inPlace, type Place } from './place.ts'

const readers = 1_000
const tasks = 10
const seconds = 10
/** Ten lines a second, each with the time of its printing. */
const speaker = `const until = Date.now() + ${(seconds + 15) * 1000}; const timer = setInterval(() => { process.stdout.write('at=' + Date.now() + ';\\n'); if (Date.now() > until) clearInterval(timer) }, 100)`

export const benchmark: Benchmark = {
  about: `${readers} readers of ${tasks} tasks that each say ten things a second, from printed to read; against a bare server that only sends`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const settings = { agents: { speaker: { command: [process.execPath, '--eval', speaker] } }, limits: { running: tasks } }
      const daemon = await startDaemon(place, { settings, profileDir })
      const made = await Promise.all(Array.from({ length: tasks }, () => daemon.createTask({ agent: 'speaker' })))
      const path = (n: number) => `/api/v1/tasks/${made[n % tasks]!.id}/events`
      const ours = await read({ url: daemon.url, token: daemon.token, path })
      const { rssBytes } = usageOf(daemon.pid)
      for (const { id } of made) await daemon.cancelTask(id)

      const peer = await read({ url: await bareServer(place), token: '', path: () => '/' })
      const expected = readers * 10 * seconds
      say(`${ours.delays.length} of about ${expected} messages were read, ${peer.delays.length} from the bare server`)
      const p99 = quantile(ours.delays, 0.99)
      const peerP99 = quantile(peer.delays, 0.99)
      return [
        {
          name: `events to ${readers} readers, p99`,
          ours: ms(p99),
          peer: `${ms(peerP99)} bare server`,
          ratio: p99 / peerP99,
          target: '≤ 250 ms',
          isMet: p99 <= 250,
        },
        {
          name: 'events read',
          ours: String(ours.delays.length),
          peer: String(peer.delays.length),
          ratio: ours.delays.length / peer.delays.length,
          target: '≥ 0.95x',
          isMet: ours.delays.length >= 0.95 * expected,
        },
        { name: 'daemon RSS with readers', ours: mib(rssBytes), peer: '', target: '≤ 300 MB', isMet: rssBytes <= 300e6 },
      ]
    }),
}

/** Opens the readers, waits until all of them hear, then counts for some seconds. */
async function read(server: { url: string; token: string; path: (n: number) => string }): Promise<{ delays: number[] }> {
  const { hostname, port, host } = new URL(server.url)
  const delays: number[] = []
  const sockets: Socket[] = []
  let heard = 0
  let counting = false
  for (let n = 0; n < readers; n++) {
    const socket = connect(Number(port), hostname)
    sockets.push(socket)
    socket.write(
      `GET ${server.path(n)} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${server.token}\r\nAccept: text/event-stream\r\n\r\n`,
    )
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
  for (const deadline = Date.now() + 20_000; heard < readers; await pause(50)) {
    if (Date.now() > deadline) throw new Error(`Only ${heard} of ${readers} readers hear anything.`)
  }
  // What a late reader had to catch up on is not counted.
  await pause(2_000)
  counting = true
  await pause(seconds * 1_000)
  counting = false
  for (const socket of sockets) socket.destroy()
  return { delays }
}

async function bareServer(place: Place): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-sse.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  place.onEnd(() => child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('The bare server did not start.')
}

const pause = (forMs: number) => new Promise((done) => setTimeout(done, forMs))
