import { spawn } from 'node:child_process'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, mib, ms, quantile } from './figure.ts'
import { inPlace, type Place } from './place.ts'
import { readSpeakers, speaker } from './readers.ts'

const readers = 1_000
const tasks = 10
const seconds = 10

export const benchmark: Benchmark = {
  about: `${readers} readers of ${tasks} tasks that each say ten things a second, from printed to read; against a bare server that only sends`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const settings = {
        agents: { speaker: { command: [process.execPath, '--eval', speaker((seconds + 15) * 1_000)] } },
        limits: { running: tasks },
      }
      const daemon = await startDaemon(place, { settings, profileDir })
      const made = await Promise.all(Array.from({ length: tasks }, () => daemon.createTask({ agent: 'speaker' })))
      const path = (n: number) => `/api/v1/tasks/${made[n % tasks]!.id}/events`
      const ours = await read({ url: daemon.url, token: daemon.token, path })
      const { rssBytes } = usageOf(daemon.pid)
      for (const { id } of made) await daemon.cancelTask(id)

      const peer = await read({ url: await bareServer(place), token: '', path: () => '/' })
      const expected = readers * 10 * seconds
      say(`${ours.length} of about ${expected} messages were read, ${peer.length} from the bare server`)
      const p99 = quantile(ours, 0.99)
      const peerP99 = quantile(peer, 0.99)
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
          ours: String(ours.length),
          peer: String(peer.length),
          ratio: ours.length / peer.length,
          target: '≥ 0.95x',
          isMet: ours.length >= 0.95 * expected,
        },
        { name: 'daemon RSS with readers', ours: mib(rssBytes), peer: '', target: '≤ 300 MB', isMet: rssBytes <= 300e6 },
      ]
    }),
}

async function read({ url, token, path }: { url: string; token: string; path: (n: number) => string }): Promise<number[]> {
  const { host } = new URL(url)
  const ask = (n: number) =>
    `GET ${path(n)} HTTP/1.1\r\nHost: ${host}\r\nAuthorization: Bearer ${token}\r\nAccept: text/event-stream\r\n\r\n`
  return readSpeakers({ url, readers, seconds, patienceMs: 20_000 }, ask)
}

async function bareServer(place: Place): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-sse.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  place.onEnd(() => child.kill('SIGKILL'))
  for await (const line of createInterface({ input: child.stdout })) return line
  throw new Error('The bare server did not start.')
}
