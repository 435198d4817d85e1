import { adapters } from '../../src/agents/index.ts'
import { silentLog } from '../../src/base/log.ts'
import { type Config, loadConfig } from '../../src/config/config.ts'
import { type Daemon, type DaemonOptions, startDaemon } from '../../src/daemon/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent/agent-config.ts'
import type { Event } from '../../src/domain/event/event.ts'

export { makeHome } from './ready-database.ts'
export { until } from './until.ts'

export const loadTestConfig = (home: string, env: Record<string, string> = {}): Promise<Config> =>
  loadConfig({ adapters, cwd: home, env: { HOME: home, PATH: process.env.PATH, ...env }, flags: { home } })

/** The whole engine in this process, without a port unless asked. */
export async function startEngine(
  home: string,
  options: Partial<DaemonOptions> & { env?: Record<string, string> } = {},
): Promise<Daemon> {
  const { env, ...rest } = options
  const config = rest.config ?? (await loadTestConfig(home, env))
  return startDaemon({ log: silentLog, http: false, serveShared: true, ...rest, config })
}

/** A plain command as an agent, as a client would send it along. */
export function commandAgent(command: readonly string[], changes: Partial<ResolvedAgent> = {}): ResolvedAgent {
  return {
    name: 'helper',
    adapter: 'custom',
    profile: 'guarded',
    options: { command: [...command] },
    env: { pass: [], set: {} },
    budget: {},
    timeoutMs: 60_000,
    idleTimeoutMs: 60_000,
    graceMs: 1_000,
    retry: { attempts: 3, baseDelayMs: 5_000, maxDelayMs: 600_000 },
    ...changes,
  }
}

/** Reads a task's events until one satisfies `wanted`, and answers all read so far. */
export async function eventsUntil(
  daemon: Daemon,
  task: string,
  wanted: (event: Event) => boolean,
  timeoutMs = 20_000,
): Promise<Event[]> {
  const seen: Event[] = []
  const done = new AbortController()
  const timer = setTimeout(() => done.abort(), timeoutMs)
  try {
    for await (const batch of daemon.runtime.followEvents(task, { after: 0, signal: done.signal })) {
      seen.push(...batch)
      if (batch.some(wanted)) return seen
    }
  } finally {
    clearTimeout(timer)
  }
  throw new Error(`the awaited event did not come within ${timeoutMs} ms; seen: ${seen.map((event) => event.type).join(' ')}`)
}

export const isResting = (event: Event) =>
  /^task\.(completed|failed|timed_out|cancelled|over_budget|blocked|parked|review)$/.test(event.type)
