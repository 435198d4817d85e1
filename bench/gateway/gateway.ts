import { execFile } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { type DaemonUnderTest, startDaemon, usageOf } from '../daemon.ts'
import { type Benchmark, type Figure, median, mib, ms, rate } from '../figure.ts'
import { inPlace, type Place } from '../place.ts'
import type { Load, Loaded } from './load.ts'
import { type Served, startBareProxy, startPeers, startUpstream } from './peers.ts'

const rounds = 3
const loads = [
  { connections: 1, requests: 1_000, streams: false },
  { connections: 16, requests: 3_000, streams: false },
  { connections: 1, requests: 1_000, streams: true },
  { connections: 16, requests: 3_000, streams: true },
]
/** What each has served before it is measured, of whole answers and of streams, so that its code is compiled as in one that has worked for a while. */
const breakInCalls = 10_000
const openStreams = 200

export const benchmark: Benchmark = {
  about: 'model calls through the door of a run, each metered and paid for, against other gateways in front of the same provider',
  measure: ({ profileDir, say }) =>
    inPlace(async (place) => {
      const upstream = await startUpstream(place)
      const direct: Served = { name: 'direct', url: `${upstream}/v1/messages`, headers: {}, streams: true }
      const peers = await startPeers(place, upstream)
      const bare = await startBareProxy(place, upstream)
      const { daemon, ours } = await startOurs(place, upstream, profileDir)
      const figures: Figure[] = []
      const all = [direct, bare, ours, ...peers]
      for (const side of all)
        for (const streams of side.streams ? [false, true] : [false])
          await loaded({ ...side, connections: 16, requests: breakInCalls, streams })
      for (const load of loads) {
        const sides = all.filter(({ streams }) => streams || !load.streams)
        const seen = new Map<string, Seen[]>(sides.map(({ name }) => [name, []]))
        // In turn, so that a noisy minute of the machine falls on all.
        for (let round = 0; round < rounds; round++)
          for (const side of sides) seen.get(side.name)!.push(await loaded({ ...side, ...load }))
        const of = (name: string, what: keyof Seen) => median(seen.get(name)!.map((one) => one[what]))
        const best = peers.map(({ name }) => (seen.has(name) ? of(name, 'perSecond') : 0)).reduce((a, b) => Math.max(a, b))
        const told = (what: keyof Seen, as: (value: number) => string) =>
          sides
            .filter(({ name }) => name !== 'ours')
            .filter(({ pid }) => what !== 'cpuMs' || pid !== undefined)
            .map(({ name }) => `${as(of(name, what))} ${name}`)
            .join(', ')
        const what = `${load.streams ? 'streams' : 'plain'}, ${load.connections} at once`
        const perSecond = of('ours', 'perSecond')
        // One after the other, a call is mostly the way through two sockets, whoever stands between them (docs/decisions/0025).
        const bareRatio = perSecond / of(bare.name, 'perSecond')
        const aim =
          load.connections === 1
            ? { ratio: bareRatio, target: '≥ 0.75x the bare', isMet: bareRatio >= 0.75 }
            : { ratio: perSecond / best, target: '≥ 2x the better', isMet: perSecond >= 2 * best }
        figures.push({ name: `calls, ${what}`, ours: rate(perSecond), peer: told('perSecond', rate), ...aim })
        // A machine that has other work to do slows down all of them alike, and tells them apart no longer; what each uses it for does.
        const cheapest = Math.min(...peers.filter(({ name }) => seen.has(name)).map(({ name }) => of(name, 'cpuMs')))
        const hundredths = (value: number) => `${value.toFixed(2)} ms`
        figures.push({
          name: `CPU of a call, ${what}`,
          ours: hundredths(of('ours', 'cpuMs')),
          peer: told('cpuMs', hundredths),
          ratio: of('ours', 'cpuMs') / cheapest,
          target: '',
        })
        if (!load.streams || load.connections > 1) continue
        for (const [quantity, most] of [
          ['firstP50', 0.7],
          ['firstP99', 3],
        ] as const) {
          const added = of('ours', quantity) - of('direct', quantity)
          const theirs = Math.min(
            ...peers.filter(({ streams }) => streams).map(({ name }) => of(name, quantity) - of('direct', quantity)),
          )
          figures.push({
            name: `first byte, added, ${quantity === 'firstP50' ? 'p50' : 'p99'}`,
            ours: ms(added),
            peer: `${ms(theirs)} claude-code-router`,
            ratio: added / theirs,
            target: `≤ ${most} ms`,
            isMet: added <= most,
          })
        }
      }
      const bytes = await memoryOfStreams(daemon, ours)
      figures.push({
        name: `memory of one of ${openStreams} open streams`,
        ours: mib(bytes),
        peer: '',
        target: '≤ 1 MB',
        isMet: bytes <= 1e6,
      })
      const { rows } = await (await daemon.pool(1)).query<{ n: number; usd: number }>(
        'select count(*)::int as n, sum(cost_usd)::float as usd from pawl.ledger',
      )
      say(`${rows[0]!.n} calls are in the ledger, ${rows[0]!.usd.toFixed(4)} USD`)
      return figures
    }),
}

/** A real run whose program only says where its door is, and waits. */
export async function startOurs(place: Place, upstream: string, profileDir: string | undefined) {
  const file = join(place.folder, 'door.json')
  const tell = `require('node:fs').writeFileSync(${JSON.stringify(file)}, JSON.stringify({ url: process.env.PAWL_MODEL_URL, key: process.env.PAWL_MODEL_KEY })); setTimeout(() => {}, 1e9)`
  const waiting = {
    command: [process.execPath, '--eval', tell],
    model: 'bench-model',
    wire: 'anthropic',
    profile: 'unattended-open',
    timeout: 0,
    idleTimeout: 0,
    budget: { usd: 1_000_000 },
  }
  const daemon = await startDaemon(place, {
    settings: {
      agents: { waiting },
      providers: { bench: { kind: 'anthropic', baseUrl: upstream } },
      models: { 'bench-model': { provider: 'bench' } },
      prices: { 'bench-model': { input: 3, output: 15, cacheRead: 0.3, cacheWrite: 3.75 } },
    },
    profileDir,
  })
  await daemon.createTask({ agent: 'waiting' })
  const door = await told(file)
  const ours: Served = {
    name: 'ours',
    url: `${door.url}/v1/messages`,
    headers: { 'x-api-key': door.key },
    streams: true,
    pid: daemon.pid,
  }
  return { daemon, ours }
}

async function told(file: string): Promise<{ url: string; key: string }> {
  for (const until = performance.now() + 20_000; performance.now() < until; ) {
    const text = await readFile(file, 'utf8').catch(() => '')
    if (text !== '') return JSON.parse(text) as { url: string; key: string }
    await new Promise((again) => setTimeout(again, 50))
  }
  throw new Error('The run did not say where its door is.')
}

/** What was seen, and what whoever answered used for each call. */
interface Seen extends Loaded {
  readonly cpuMs: number
}

const run = promisify(execFile)
async function loaded({ url, headers, connections, requests, streams, pid }: Load & Pick<Served, 'pid'>): Promise<Seen> {
  const load: Load = { url, headers, connections, requests, streams }
  const usedMs = () => (pid === undefined ? 0 : usageOf(pid).cpuMs)
  const before = usedMs()
  const { stdout } = await run(process.execPath, [join(import.meta.dirname, 'load.ts'), JSON.stringify(load)])
  const seen = JSON.parse(stdout) as Loaded
  return { ...seen, cpuMs: (usedMs() - before) / seen.calls }
}

/** What the daemon holds more for each of many streams that have begun and do not end. */
async function memoryOfStreams(daemon: DaemonUnderTest, { url, headers }: Served): Promise<number> {
  const messages = [{ role: 'user', content: 'Hello' }]
  const body = JSON.stringify({ model: 'bench-model', max_tokens: 16, stream: true, metadata: { user_id: 'hold' }, messages })
  const agent = new Agent({ keepAlive: false, maxSockets: openStreams })
  const before = usageOf(daemon.pid).rssBytes
  await Promise.all(Array.from({ length: openStreams }, () => begun(url, { agent, headers, body })))
  const after = usageOf(daemon.pid).rssBytes
  agent.destroy()
  return Math.max(0, after - before) / openStreams
}

/** Resolves when the first of the answer has come. */
const begun = (url: string, { agent, headers, body }: { agent: Agent; headers: Served['headers']; body: string }) =>
  new Promise<void>((resolve, reject) => {
    const all = { 'content-type': 'application/json', 'content-length': Buffer.byteLength(body), ...headers }
    const sent = request(url, { method: 'POST', agent, headers: all }, (answer) => {
      answer.once('data', () => resolve()).on('error', () => undefined)
    })
    sent.on('error', reject)
    sent.end(body)
  })
