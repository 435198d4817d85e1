import { type ChildProcess, spawn } from 'node:child_process'
import { once } from 'node:events'
import { closeSync, openSync, readFileSync } from 'node:fs'
import { mkdir, readFile, writeFile } from 'node:fs/promises'
import { Agent, request } from 'node:http'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import pg from 'pg'
import { installedPawl } from '../scripts/installed.ts'
import { silentLog } from '../src/base/log.ts'
import type { Event } from '../src/domain/event/event.ts'
import type { HealthView, NewTask, TaskView } from '../src/domain/view/view.ts'
import { openEmbedded, stopEmbedded } from '../src/store/embedded/server.ts'
import type { BenchOptions } from './figure.ts'
import type { Place } from './place.ts'

/** What users install, and what `npm start` runs. */
export const program = await installedPawl()

/** As a daemon chooses it (bin/load.js). */
const nursery = '--max-semi-space-size=8'

/** A daemon as users start it: its own process, home and port. */
export interface DaemonUnderTest {
  readonly home: string
  readonly url: string
  readonly token: string
  readonly pid: number
  /** From the spawn to the line that says where it listens. */
  readonly startMs: number
  createTask(task: Partial<NewTask>, via?: Agent): Promise<TaskView>
  getTask(id: string): Promise<TaskView>
  cancelTask(id: string): Promise<void>
  /** Nothing is started any more; tasks are still taken. */
  pause(): Promise<void>
  health(): Promise<HealthView>
  /** What its process holds when everything that nobody needs any more is freed. Only for one that was started to be weighed. */
  memory(): Promise<NodeJS.MemoryUsage>
  /** Resolves when this many tasks of the agent are completed; one that ends otherwise is an error. */
  completed(agent: string, count: number): Promise<void>
  /** Events of a task as they arrive, with our time of arrival, until it rests. */
  follow(task: string, onEvent: (event: Event, atMs: number) => void): Promise<void>
  /** The same database, from here. */
  pool(connections: number): Promise<pg.Pool>
  stop(): Promise<void>
}

export interface DaemonSettings {
  readonly providers?: Record<string, object>
  readonly models?: Record<string, object>
  readonly prices?: Record<string, object>
  readonly agents?: Record<string, { command: string | string[]; [key: string]: unknown }>
  readonly limits?: { running?: number; perAgent?: Record<string, number>; warm?: number }
}

/** Tasks that a daemon has done before it is measured, so that its code is compiled as in one that has worked for a while. */
const breakInTasks = 120
export const breakInAgent = { command: ['/bin/true'] }

/** Has a daemon with `breakInAgent` under this name do what any daemon has done after its first hour. */
export async function breakIn({ createTask, follow }: DaemonUnderTest, agent: string): Promise<void> {
  for (let n = 0; n < breakInTasks; n++) await follow((await createTask({ agent })).id, () => undefined)
}

export async function startDaemon(
  place: Place,
  options: { home?: string; settings?: DaemonSettings; isWeighed?: boolean; isNoop?: boolean } & Pick<BenchOptions, 'profileDir'>,
): Promise<DaemonUnderTest> {
  const home = options.home ?? join(place.folder, 'home')
  await mkdir(home, { recursive: true, mode: 0o700 })
  if (options.settings) await writeFile(join(home, 'config.yaml'), settingsText(options.settings))
  const profiling = options.profileDir === undefined ? [] : ['--cpu-prof', `--cpu-prof-dir=${options.profileDir}`]
  // With the nursery that it would choose, it does not start itself anew, which would cut our channel to it.
  const weighing = options.isWeighed ? [nursery, '--expose-gc', '--import', join(import.meta.dirname, 'weigh.ts')] : []
  const log = openSync(join(place.folder, 'daemon.log'), 'a')
  const since = performance.now()
  // One that starts no programs of agents.
  const started = options.isNoop
    ? [nursery, join(import.meta.dirname, 'noop-daemon.ts')]
    : [program, 'serve', '--port', '0', '--json']
  const child = spawn(process.execPath, [...profiling, ...weighing, ...started], {
    cwd: place.folder,
    env: { PATH: process.env.PATH, HOME: process.env.HOME, PAWL_HOME: home },
    stdio: ['ignore', 'pipe', log, ...(options.isWeighed ? (['ipc'] as const) : [])],
  })
  closeSync(log)
  const stop = () => stopChild(child)
  place.onEnd(async () => {
    await stop()
    // A daemon that was ended while it started leaves its database to the next one, and there is none.
    await stopEmbedded(home)
  })
  const url = await firstLine(child, place)
  const startMs = performance.now() - since
  const token = (await readFile(join(home, 'token'), 'utf8')).trim()
  const agent = new Agent({ keepAlive: true, maxSockets: 16 })
  place.onEnd(() => agent.destroy())

  const send = (method: string, path: string, body?: unknown, via: Agent = agent): Promise<string> =>
    new Promise((resolve, reject) => {
      const text = body === undefined ? '' : JSON.stringify(body)
      const headers = {
        authorization: `Bearer ${token}`,
        ...(body === undefined ? {} : { 'content-type': 'application/json', 'content-length': Buffer.byteLength(text) }),
      }
      const sent = request(`${url}/api/v1${path}`, { method, agent: via, headers }, (answer) => {
        let said = ''
        answer.setEncoding('utf8')
        answer.on('data', (part: string) => {
          said += part
        })
        answer.on('end', () => (answer.statusCode! < 300 ? resolve(said) : reject(new Error(`${method} ${path}: ${said}`))))
        answer.on('error', reject)
      })
      sent.on('error', reject)
      sent.end(text)
    })

  let shared: Promise<pg.ClientConfig> | undefined
  const pool = async (connections: number) => {
    shared ??= openEmbedded({ home, log: silentLog }).then((server) => {
      place.onEnd(() => server.release())
      return server.connection
    })
    const made = new pg.Pool({ ...(await shared), max: connections })
    place.onEnd(() => made.end())
    return made
  }
  let looking: Promise<pg.Pool> | undefined

  return {
    home,
    url,
    token,
    pid: child.pid!,
    startMs,
    createTask: async (task, via) => JSON.parse(await send('POST', '/tasks', { prompt: 'go', ...task }, via)) as TaskView,
    getTask: async (id) => JSON.parse(await send('GET', `/tasks/${id}`)) as TaskView,
    cancelTask: async (id) => void (await send('POST', `/tasks/${id}/cancel`, { now: true })),
    pause: async () => void (await send('POST', '/stop-all', {})),
    health: async () => JSON.parse(await send('GET', '/health')) as HealthView,
    async memory() {
      const answer = once(child, 'message')
      child.send('weigh')
      return (await answer)[0] as NodeJS.MemoryUsage
    },
    async completed(name, count) {
      looking ??= pool(1)
      const db = await looking
      const text = `select count(*) filter (where state = 'completed')::int as good, min(id) filter (where state in ('failed', 'timed_out', 'parked', 'blocked')) as bad
        from pawl.tasks where agent = $1`
      for (;;) {
        const { rows } = await db.query<{ good: number; bad: string | null }>(text, [name])
        const { good, bad } = rows[0]!
        if (bad !== null) throw new Error(`Task ${bad} went wrong: ${await send('GET', `/tasks/${bad}`)}`)
        if (good >= count) return
        await new Promise((again) => setTimeout(again, 10))
      }
    },
    follow: (task, onEvent) =>
      new Promise((resolve, reject) => {
        const headers = { authorization: `Bearer ${token}`, accept: 'text/event-stream' }
        const sent = request(`${url}/api/v1/tasks/${task}/events?until=rest`, { agent: false, headers }, (answer) => {
          const lines = createInterface({ input: answer })
          lines.on('line', (line) => line.startsWith('data: ') && onEvent(JSON.parse(line.slice(6)) as Event, wallMs()))
          lines.on('close', resolve)
        })
        sent.on('error', reject)
        sent.end()
      }),
    pool,
    stop,
  }
}

/** Wall time with fractions. */
export const wallMs = () => performance.timeOrigin + performance.now()

function settingsText({ agents = {}, ...more }: DaemonSettings): string {
  const custom = Object.entries(agents).map(([name, agent]) => [name, { adapter: 'custom', retries: 0, ...agent }])
  // JSON is YAML too.
  return JSON.stringify({ agents: Object.fromEntries(custom), ...more })
}

async function firstLine(child: ChildProcess, place: Place): Promise<string> {
  for await (const line of createInterface({ input: child.stdout! })) {
    child.stdout!.resume()
    return (JSON.parse(line) as { url: string }).url
  }
  throw new Error(`The daemon did not start:\n${await readFile(join(place.folder, 'daemon.log'), 'utf8')}`)
}

async function stopChild(child: ChildProcess): Promise<void> {
  if (child.exitCode !== null || child.signalCode !== null) return
  const exited = once(child, 'exit')
  child.kill('SIGTERM')
  const late = setTimeout(() => child.kill('SIGKILL'), 30_000)
  await exited
  clearTimeout(late)
}

/** What a process has used so far, from the kernel's own count. */
export function usageOf(pid: number): { cpuMs: number; rssBytes: number } {
  const stat = readFileSync(`/proc/${pid}/stat`, 'utf8')
  const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
  const status = readFileSync(`/proc/${pid}/status`, 'utf8')
  const rss = Number(/^VmRSS:\s+(\d+) kB/m.exec(status)?.[1] ?? 0)
  return { cpuMs: (Number(fields[11]) + Number(fields[12])) * 10, rssBytes: rss * 1024 }
}
