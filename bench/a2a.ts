import { spawn } from 'node:child_process'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import type pg from 'pg'
import { startDaemon, usageOf } from './daemon.ts'
import { type Benchmark, inParallel, interleave, median, perSecond, rate, timed } from './figure.ts'
import { inPlace, type Place } from './place.ts'

const rounds = 5
const messages = 300
/** As many clients as wait for their answers at once, of ours and of the peer. */
const clients = 32

export const benchmark: Benchmark = {
  about: `${messages} messages of A2A by ${clients} clients to an agent that does nothing, against the SDK's server in memory`,
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const settings = { agents: { noop: { command: ['/bin/true'] } }, limits: { running: clients } }
      const daemon = await startDaemon(place, { settings, profileDir, isNoop: true })
      const ours = `${daemon.url}/a2a/agents/noop`
      const pool = await daemon.pool(1)
      const peer = await startPeer(place)
      // The same server as it is where tasks must not be lost: one row for each, and nothing else.
      const durable = await startPeer(place, pool.options)
      // What compiles with use is compiled in all.
      await send(ours, daemon.token, messages)
      for (const { url } of [peer, durable]) await send(url, '', messages)
      const before = { ours: usageOf(daemon.pid).cpuMs, peer: usageOf(peer.pid).cpuMs, database: await written(pool) }
      const sides = await interleave(
        rounds,
        () => send(ours, daemon.token, messages),
        () => send(peer.url, '', messages),
      )
      const count = rounds * messages
      const spent = (pid: number, sinceMs: number) => ((usageOf(pid).cpuMs - sinceMs) / count).toFixed(2)
      const database = await written(pool)
      const per = (name: keyof Written) => ((database[name] - before.database[name]) / count).toFixed(2)
      say(
        `CPU per message: ${spent(daemon.pid, before.ours)} ms in our process, ${spent(peer.pid, before.peer)} ms in the peer's`,
      )
      say(
        `per message: ${per('commits')} transactions, ${per('walBytes')} bytes and ${per('syncs')} syncs of the write-ahead log`,
      )
      // Nothing may run meanwhile: what is measured is that a message is taken and kept.
      await daemon.pause()
      const taken = await interleave(
        rounds,
        () => send(ours, daemon.token, messages, { returnImmediately: true }),
        () => send(peer.url, '', messages, { returnImmediately: true }),
      )
      const ratio = median(sides.ours) / median(sides.peer)
      const takenRatio = median(taken.ours) / median(taken.peer)
      const durables: number[] = []
      for (let round = 0; round < rounds; round++) durables.push(await send(durable.url, '', messages))
      return [
        {
          name: 'A2A SendMessage, to the end of its task',
          ours: `${rate(median(sides.ours))} durable`,
          peer: `${rate(median(sides.peer))} in memory`,
          ratio,
          // A queue alone is slower than that (docs/decisions/0024).
          target: '',
        },
        {
          name: 'A2A SendMessage, taken (returnImmediately)',
          ours: `${rate(median(taken.ours))} durable`,
          peer: `${rate(median(taken.peer))} in memory`,
          ratio: takenRatio,
          target: '≥ 0.3x',
          isMet: takenRatio >= 0.3,
        },
        {
          name: 'A2A SendMessage, durable both',
          ours: rate(median(sides.ours)),
          peer: `${rate(median(durables))} its store`,
          ratio: median(sides.ours) / median(durables),
          target: '',
        },
      ]
    }),
}

async function startPeer(place: Place, database?: pg.PoolConfig): Promise<{ url: string; pid: number }> {
  const env = database ? { ...process.env, PEER_DATABASE: JSON.stringify(database) } : process.env
  const child = spawn(process.execPath, [join(import.meta.dirname, 'a2a-peer.ts')], { env, stdio: ['ignore', 'pipe', 'inherit'] })
  place.onEnd(() => child.kill('SIGKILL'))
  for await (const url of createInterface({ input: child.stdout })) return { url, pid: child.pid! }
  throw new Error('The peer did not start.')
}

interface Written {
  readonly commits: number
  readonly walBytes: number
  readonly syncs: number
}

/** What the database has done so far for whoever asked. */
async function written(pool: pg.Pool): Promise<Written> {
  const text = `select (select xact_commit::float8 from pg_stat_database where datname = current_database()) as commits,
    (select wal_bytes::float8 from pg_stat_wal) as "walBytes",
    (select coalesce(sum(fsyncs), 0)::float8 from pg_stat_io where object = 'wal') as syncs`
  return (await pool.query<Written>(text)).rows[0]!
}

interface Configuration {
  readonly returnImmediately?: boolean
}

/** How many messages a second are answered: with a task that has ended, or at once. */
async function send(url: string, token: string, count: number, configuration: Configuration = {}): Promise<number> {
  const agent = new Agent({ keepAlive: true, maxSockets: clients })
  try {
    return perSecond(count, await timed(() => inParallel(count, clients, () => sendOne(url, token, agent, configuration))))
  } finally {
    agent.destroy()
  }
}

function sendOne(url: string, token: string, agent: Agent, configuration: Configuration): Promise<void> {
  const answer = configuration.returnImmediately ? 'TASK_STATE_' : 'TASK_STATE_COMPLETED'
  const message = { messageId: crypto.randomUUID(), role: 'ROLE_USER', parts: [{ text: 'go' }] }
  const body = JSON.stringify({ jsonrpc: '2.0', id: 1, method: 'SendMessage', params: { message, configuration } })
  const headers = {
    'content-type': 'application/json',
    'a2a-version': '1.0',
    ...(token ? { authorization: `Bearer ${token}` } : {}),
  }
  return new Promise((done, fail) => {
    const sent = request(url, { method: 'POST', agent, headers }, (response) => {
      let text = ''
      response.setEncoding('utf8').on('data', (part: string) => {
        text += part
      })
      response.on('end', () =>
        text.includes(answer) ? done() : fail(new Error(`A message came to something else: ${text.slice(0, 300)}`)),
      )
    })
    sent.on('error', fail).end(body)
  })
}
