import { connect, type Socket } from 'node:net'
import { setTimeout as sleep } from 'node:timers/promises'
import { bearer, exchange, type Listening, listening } from '../test/http-peer.ts'
import { type Benchmark, type Figure, quantile } from './figure.ts'

const each = 500
const goodClients = 50
const forMs = 8_000
const most = 500

export const benchmark: Benchmark = {
  about: `how long ${goodClients} good clients wait while ${each} send their headers slowly, ${each} their bodies, and ${each} never read; server and clients are one process`,
  async measure() {
    const peer = await listening({})
    const { id } = (await peer.runtime.createTask({ prompt: 'p' }, { by: 'bench' })).task
    const said = { type: 'agent.message', data: { text: 'x'.repeat(60_000) } } as const
    peer.runtime.emit(id, ...Array.from({ length: 50 }, () => said))
    await waits(peer, 1_000)
    const quiet = await waits(peer, forMs)
    const slow = slowClients(peer, id)
    while (peer.runtime.followers() < each) await sleep(20)
    const loaded = await waits(peer, forMs)
    for (const socket of slow) socket.destroy()
    await peer.surface.stop()
    return [0.5, 0.99].map((q): Figure => {
      const [ours, alone] = [quantile(loaded, q), quantile(quiet, q)]
      return {
        name: `a good request among slow clients, p${q * 100}`,
        ours: `${ours.toFixed(0)} ms`,
        peer: `${alone.toFixed(0)} ms without them`,
        ratio: ours / alone,
        target: q === 0.99 ? `≤ ${most} ms` : '',
        ...(q === 0.99 ? { isMet: ours <= most } : {}),
      }
    })
  },
}

async function waits({ port }: Listening, ms: number): Promise<number[]> {
  const spent: number[] = []
  const until = performance.now() + ms
  const asked = `GET /api/v1/me HTTP/1.1\r\nHost: 127.0.0.1:${port}\r\nAuthorization: ${bearer}\r\nConnection: close\r\n\r\n`
  await Promise.all(
    Array.from({ length: goodClients }, async () => {
      while (performance.now() < until) {
        spent.push((await exchange(port, asked)).ms)
        await sleep(500)
      }
    }),
  )
  return spent
}

function slowClients({ port }: Listening, task: string): Socket[] {
  const head = `Host: 127.0.0.1:${port}\r\nAuthorization: ${bearer}\r\n`
  const beginnings = [
    `GET /healthz HTTP/1.1\r\n${head}X-Slow: `,
    `POST /api/v1/tasks HTTP/1.1\r\n${head}Content-Type: application/json\r\nContent-Length: 1000\r\n\r\n{`,
    `GET /api/v1/tasks/${task}/events HTTP/1.1\r\n${head}\r\n`,
  ]
  return beginnings.flatMap((beginning) =>
    Array.from({ length: each }, () => {
      // Those that are cut have done their part.
      const socket = connect(port, '127.0.0.1', () => void socket.write(beginning)).on('error', () => undefined)
      return socket.pause()
    }),
  )
}
