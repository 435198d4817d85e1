import { mkdtemp, rm } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { adapters } from '../../src/agents/index.ts'
import { type Config, loadConfig } from '../../src/config.ts'
import { type Daemon, type DaemonOptions, startDaemon } from '../../src/daemon.ts'
import type { ResolvedAgent } from '../../src/domain/agent-config.ts'
import type { Event } from '../../src/domain/event.ts'
import { silentLog } from '../../src/log.ts'
import { giveDatabase } from './ready-database.ts'

/** A home of its own for one test file, with a real database in it. */
export async function makeHome(prefix = 'pawl-test-'): Promise<{ path: string; remove(): Promise<void> }> {
  const path = await mkdtemp(join(tmpdir(), prefix))
  const dropDatabase = await giveDatabase(path)
  return {
    path,
    async remove() {
      await rm(path, { recursive: true, force: true })
      dropDatabase()
    },
  }
}

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

/** Waits until a condition holds, looking often. For facts outside the journal, such as a file or a process. */
export async function until<T>(
  look: () => Promise<T | undefined | false> | T | undefined | false,
  timeoutMs = 20_000,
): Promise<T> {
  const deadline = performance.now() + timeoutMs
  for (;;) {
    const found = await look()
    if (found) return found
    if (performance.now() > deadline) throw new Error(`the awaited condition did not hold within ${timeoutMs} ms: ${look}`)
    await new Promise((again) => setTimeout(again, 10))
  }
}

export const isResting = (event: Event) =>
  /^task\.(completed|failed|timed_out|cancelled|over_budget|blocked|parked|review)$/.test(event.type)
