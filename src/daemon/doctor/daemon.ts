import { connect } from 'node:net'
import type { Client } from '../../client/index.ts'
import type { Config } from '../../config/config.ts'
import { formatTime, formatUntil } from '../../domain/base/elapsed.ts'
import type { Found } from '../../domain/view/doctor.ts'
import { findDaemon } from '../machine/run-file.ts'

/** What the daemon says, or undefined where none is running. */
export async function askDaemon<T>(config: Config, ask: (client: Client) => Promise<T>): Promise<T | undefined> {
  const found = await findDaemon(config.home)
  if (!found) return undefined
  const { createClient } = await import('../../client/index.ts')
  const client = createClient({ ...found, signal: AbortSignal.timeout(2_000) })
  try {
    return await ask(client)
  } finally {
    client.close()
  }
}

/** Its agent programs that wait for the next turn of their session take memory while nothing runs; and somebody may have stopped all of them. */
export async function daemon(config: Config): Promise<Found> {
  const found = await findDaemon(config.home)
  if (!found) return { level: 'ok', detail: 'none is running; "pawl serve" starts one' }
  if (!(await canConnect(new URL(found.url))))
    return { level: 'fail', detail: `pid ${found.pid} lives but ${found.url} does not answer`, fix: 'pawl stop, then pawl serve' }
  const health = await askDaemon(config, (client) => client.health())
  if (!health) return { level: 'ok', detail: 'it has just ended; "pawl serve" starts one' }
  const { warm, halt, notifications } = health
  const kept = warm.length === 0 ? '' : `; warm: ${warm.map(({ agent, pid }) => `${agent} (pid ${pid})`).join(', ')}`
  const detail = `running at ${found.url} (pid ${found.pid})${kept}`
  if (halt) return { level: 'warn', detail: `${detail}; all agents were stopped at ${halt.at} by ${halt.by}`, fix: 'pawl resume' }
  if (notifications.dead > 0)
    return {
      level: 'warn',
      detail: `${detail}; ${notifications.dead} ${notifications.dead === 1 ? 'notification was' : 'notifications were'} given up`,
      fix: 'pawl notifications ls --state dead',
    }
  return { level: 'ok', detail }
}

/** A schedule whose ticks fail looks like one that works, unless somebody says so. */
export async function schedules(config: Config): Promise<Found> {
  const health = await askDaemon(config, (client) => client.health())
  if (!health) return { level: 'ok', detail: 'nothing is fired while no daemon runs' }
  const { active, paused, unhealthy, refused } = health.schedules
  const [bad] = refused
  if (bad)
    return {
      level: 'fail',
      detail: refused.map(({ name, detail }) => `${name} of the settings is not in force: ${detail}`).join('; '),
      fix: `correct it in ${bad.source}, then start the daemon again`,
    }
  const failing = unhealthy.map(({ id, name, detail }) => `${name ?? id}: ${detail}`)
  const [first] = unhealthy
  if (first) return { level: 'fail', detail: failing.join('; '), fix: `pawl schedules show ${first.name ?? first.id}` }
  return { level: 'ok', detail: `${active} active, ${paused} paused` }
}

/** An agent whose runs fail one after the other, and a task that runs and says nothing, look like work unless somebody says so. */
export async function runs(config: Config): Promise<Found> {
  const health = await askDaemon(config, (client) => client.health())
  if (!health) return { level: 'ok', detail: 'nothing runs while no daemon does' }
  const { agents, stuck } = health
  const sick = agents.filter(({ healthy }) => !healthy)
  const told = [
    ...sick.map(({ agent, failedInARow, detail }) => `the last ${failedInARow} runs of ${agent} failed: ${detail}`),
    ...stuck.map(({ task, agent, silentSince }) => `${agent} has said nothing in ${task} since ${formatTime(silentSince)}`),
  ]
  const fix = sick[0]?.todo ?? stuck[0]?.todo
  if (told.length > 0) return { level: sick.length > 0 ? 'fail' : 'warn', detail: told.join('; '), ...(fix ? { fix } : {}) }
  return {
    level: 'ok',
    detail:
      agents.length === 0
        ? 'no agent ran within a week'
        : `${agents.length} ${agents.length === 1 ? 'agent' : 'agents'} ran within a week`,
  }
}

/** Tasks that wait for an account look as if nothing happened. */
export async function limits(config: Config): Promise<Found> {
  const cooling = await askDaemon(config, (client) => client.listLimits())
  if (!cooling) return { level: 'ok', detail: 'nobody asks a model while no daemon runs' }
  const told = cooling.map(
    ({ agents, until, why, waiting }) =>
      `${agents.join(', ')} until ${formatTime(until)}, ${formatUntil(until)}: ${why} (${waiting} ${waiting === 1 ? 'task waits' : 'tasks wait'})`,
  )
  return told.length === 0
    ? { level: 'ok', detail: 'no account is at a limit' }
    : { level: 'warn', detail: told.join('; '), fix: 'they go on by themselves; pawl limits ls, pawl limits clear AGENT' }
}

const canConnect = (url: URL) =>
  new Promise<boolean>((done) => {
    const socket = connect({ host: url.hostname, port: Number(url.port), timeout: 2_000 })
    const end = (answers: boolean) => {
      socket.destroy()
      done(answers)
    }
    socket
      .once('connect', () => end(true))
      .once('error', () => end(false))
      .once('timeout', () => end(false))
  })
