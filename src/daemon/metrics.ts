import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import { monitorEventLoopDelay } from 'node:perf_hooks'
import { version } from '../base/version.ts'
import { taskStates } from '../domain/task/task.ts'
import { readGauges } from '../store/gauges.ts'
import type { MetricName } from '../telemetry/metrics.ts'
import type { Sample } from '../telemetry/registry.ts'
import type { Ground } from './ground.ts'

/** What stands at `/metrics`: what this process has counted, and how things are at the moment of asking. */
export function metricsOf(ground: Ground): (seen: { followers: number }) => Promise<string> {
  const { clock, database, runtime, metrics, warm, config, started } = ground
  // It wakes the process fifty times a second, so it begins when somebody asks for the first time.
  const delay = monitorEventLoopDelay({ resolution: 20 })
  started.add(async () => void delay.disable())
  const startedAtS = clock.now() / 1_000 - process.uptime()

  return async ({ followers }) => {
    delay.enable()
    const now = clock.now()
    const [health, gauges, backupAt] = await Promise.all([
      runtime.health(),
      readGauges(database.db, new Date(now)),
      newestIn(config.backup.folder),
    ])
    const { pool } = database
    const cpu = process.cpuUsage()
    const memory = process.memoryUsage()
    const each = (name: MetricName, label: string, values: Readonly<Record<string, number>>): Sample<MetricName>[] =>
      Object.entries(values).map(([key, value]) => ({ name, labels: { [label]: key }, value }))
    const states = Object.fromEntries(taskStates.map((state) => [state, health.tasks[state] ?? 0]))
    const found: Sample<MetricName>[] = [
      { name: 'pawl_build_info', labels: { version, node: process.versions.node, database: health.database.version }, value: 1 },
      ...each('pawl_tasks', 'state', states),
      {
        name: 'pawl_queue_oldest_seconds',
        value: gauges.oldestQueuedMs === null ? 0 : Math.max(0, now - gauges.oldestQueuedMs) / 1_000,
      },
      ...each('pawl_tasks_parked', 'kind', gauges.parked),
      { name: 'pawl_questions_pending', value: gauges.questions },
      ...each('pawl_accounts_limited', 'kind', gauges.limited),
      ...each('pawl_runs_open', 'agent', gauges.openRuns),
      { name: 'pawl_workers', value: gauges.workers },
      { name: 'pawl_event_followers', value: followers },
      ...each('pawl_outbox', 'state', { waiting: health.notifications.waiting, dead: health.notifications.dead }),
      ...each('pawl_schedules', 'state', {
        active: health.schedules.active,
        paused: health.schedules.paused,
        failing: health.schedules.unhealthy.length,
      }),
      { name: 'pawl_programs_waiting', value: warm.list().length },
      { name: 'pawl_walls_enforced', labels: { walls: health.walls.name }, value: Number(health.walls.enforced) },
      { name: 'pawl_halted', value: Number(health.halt !== null) },
      ...(backupAt === undefined
        ? []
        : [{ name: 'pawl_backup_age_seconds' as const, value: Math.max(0, now - backupAt) / 1_000 }]),
      ...each('pawl_database_connections', 'state', {
        idle: pool.idleCount,
        used: pool.totalCount - pool.idleCount,
        waiting: pool.waitingCount,
      }),
      { name: 'process_cpu_seconds_total', value: (cpu.user + cpu.system) / 1e6 },
      { name: 'process_resident_memory_bytes', value: memory.rss },
      { name: 'process_start_time_seconds', value: startedAtS },
      { name: 'nodejs_heap_used_bytes', value: memory.heapUsed },
      ...each('nodejs_eventloop_delay_seconds', 'stat', {
        p50: delay.percentile(50) / 1e9,
        p99: delay.percentile(99) / 1e9,
        max: delay.max / 1e9,
      }),
    ]
    delay.reset()
    return metrics.render(found)
  }
}

async function newestIn(folder: string): Promise<number | undefined> {
  const names = (await readdir(folder).catch(() => [])).filter((name) => name.endsWith('.pawl'))
  const times = await Promise.all(
    names.map((name) =>
      stat(join(folder, name)).then(
        ({ mtimeMs }) => mtimeMs,
        () => 0,
      ),
    ),
  )
  return times.length > 0 ? Math.max(...times) : undefined
}
