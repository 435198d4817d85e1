import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from './clock.ts'
import { type Config, environmentOf, searchPath } from './config.ts'
import { describeAgents } from './describe.ts'
import { messageOf } from './domain/error.ts'
import { rightsOf } from './domain/profile/resolve.ts'
import { openReceiver } from './egress/post.ts'
import { keyReader } from './engine/models/provider-key.ts'
import { reachProvider } from './engine/models/reach.ts'
import { findProgram } from './process/program.ts'
import { type FoundDaemon, findDaemon } from './run-file.ts'
import { embeddedStatus } from './store/embedded/server.ts'
import { createMachineWalls } from './walls.ts'

/** One thing that was looked at: how it is, and what to do about it. */
export interface Finding {
  readonly name: string
  readonly level: 'ok' | 'warn' | 'fail'
  readonly detail: string
  readonly fix?: string
}

export interface DoctorReport {
  readonly home: string
  readonly sizeBytes: number
  readonly rows: readonly Finding[]
}

/** Looks at everything a run will need. Changes nothing, starts nothing but a program that tries the walls, never throws. */
export async function inspect(config: Config): Promise<DoctorReport> {
  const checks: [string, () => Promise<Omit<Finding, 'name'>>][] = [
    ['node', async () => ({ level: 'ok', detail: `Node ${process.versions.node}` })],
    ['home', () => home(config)],
    ['disk', () => disk(config)],
    ['database', () => database(config)],
    ['walls', () => walls(config)],
    ['daemon', () => daemon(config)],
    ['schedules', () => schedules(config)],
    ['limits', () => limits(config)],
    ['settings', () => settings(config)],
  ]
  const findings = await Promise.all(
    checks.map(async ([name, check]): Promise<Finding> => {
      try {
        return { name, ...(await check()) }
      } catch (error) {
        return { name, level: 'fail', detail: messageOf(error) }
      }
    }),
  )
  return {
    home: config.home,
    sizeBytes: await sizeOf(config.home),
    rows: [...findings, ...(await notifications(config)), ...(await providers(config)), ...(await agents(config))],
  }
}

async function home(config: Config): Promise<Omit<Finding, 'name'>> {
  const { mode } = await stat(config.home)
  if ((mode & 0o077) !== 0)
    return { level: 'warn', detail: `${config.home} can be read by others`, fix: `chmod 700 ${config.home}` }
  return { level: 'ok', detail: config.home }
}

async function disk(config: Config): Promise<Omit<Finding, 'name'>> {
  const found = await statfs(config.home)
  const freeMiB = Math.round((found.bavail * found.bsize) / 1024 / 1024)
  if (freeMiB < 512)
    return {
      level: 'fail',
      detail: `only ${freeMiB} MiB free; no new work is taken below 512`,
      fix: 'free some space on that disk',
    }
  if (freeMiB < 2_048) return { level: 'warn', detail: `${freeMiB} MiB free`, fix: 'free some space on that disk' }
  return { level: 'ok', detail: `${Math.round(freeMiB / 1024)} GiB free` }
}

async function database(config: Config): Promise<Omit<Finding, 'name'>> {
  if (config.database.url !== undefined) {
    const client = new pg.Client({ connectionString: config.database.url, connectionTimeoutMillis: 5_000 })
    try {
      await client.connect()
      const { rows } = await client.query<{ server_version: string }>('show server_version')
      return { level: 'ok', detail: `PostgreSQL ${rows[0]?.server_version} by URL` }
    } catch (error) {
      return {
        level: 'fail',
        detail: `the database URL does not work: ${messageOf(error)}`,
        fix: 'check PAWL_DATABASE_URL or database.url',
      }
    } finally {
      await client.end().catch(() => undefined)
    }
  }
  const status = await embeddedStatus(config.home)
  const size = `${Math.round(status.sizeBytes / 1024 / 1024)} MiB`
  if (status.running)
    return { level: 'ok', detail: `embedded PostgreSQL ${status.version}, running (pid ${status.pid}), ${size}` }
  return {
    level: 'ok',
    detail: status.version
      ? `embedded PostgreSQL ${status.version}, ${size}; starts when needed`
      : 'embedded PostgreSQL; made at the first start',
  }
}

/** Which walls there are, and what came of trying to get out of them, for every profile that an agent has. */
async function walls(config: Config): Promise<Omit<Finding, 'name'>> {
  // What is hidden from agents is hidden here too, and a home that does not exist yet is not made.
  const home = await mkdtemp(join(tmpdir(), 'pawl-doctor-'))
  try {
    const machine = createMachineWalls({ home, clock: systemClock })
    const { sandbox, health } = await machine.choose()
    if (!health.enforced)
      return { level: 'warn', detail: `not enforced: ${health.detail}`, ...(health.fix ? { fix: health.fix } : {}) }
    for (const profile of config.agents.map(rightsOf).filter(({ walls }) => walls)) await machine.selfTests.forProfile(profile)
    const tests = machine.views()
    const open = tests.find(({ passed }) => !passed)
    const escaped = open?.canaries.filter(({ verdict }) => verdict === 'escaped').map(({ name, detail }) => `${name}: ${detail}`)
    if (open)
      return {
        level: 'fail',
        detail: `${sandbox.name} does not hold for the profile "${open.profile}": ${open.failure ?? escaped?.join('; ')}`,
        fix: 'nothing sandboxed is started until it holds; update bubblewrap and the kernel, or report it',
      }
    const held = tests.map(({ profile, canaries }) => `${profile} ${canaries.filter(({ verdict }) => verdict === 'held').length}`)
    return {
      level: 'ok',
      detail: `${sandbox.name}: ${health.detail}; ways out tried and refused, by profile: ${held.join(', ')}`,
    }
  } finally {
    await rm(home, { recursive: true, force: true })
  }
}

async function daemon(config: Config): Promise<Omit<Finding, 'name'>> {
  const found = await findDaemon(config.home)
  if (!found) return { level: 'ok', detail: 'none is running; "pawl serve" starts one' }
  const answers = await canConnect(new URL(found.url))
  return answers
    ? await livingDaemon(found)
    : { level: 'fail', detail: `pid ${found.pid} lives but ${found.url} does not answer`, fix: 'pawl stop, then pawl serve' }
}

/** Its agent programs that wait for the next turn of their session take memory while nothing runs; and somebody may have stopped all of them. */
async function livingDaemon(daemon: FoundDaemon): Promise<Omit<Finding, 'name'>> {
  const { createClient } = await import('./client/index.ts')
  const client = createClient({ ...daemon, signal: AbortSignal.timeout(2_000) })
  try {
    const { warm, halt, notifications } = await client.health()
    const kept = warm.length === 0 ? '' : `; warm: ${warm.map(({ agent, pid }) => `${agent} (pid ${pid})`).join(', ')}`
    const detail = `running at ${daemon.url} (pid ${daemon.pid})${kept}`
    if (halt)
      return { level: 'warn', detail: `${detail}; all agents were stopped at ${halt.at} by ${halt.by}`, fix: 'pawl resume' }
    if (notifications.dead > 0)
      return {
        level: 'warn',
        detail: `${detail}; ${notifications.dead} ${notifications.dead === 1 ? 'notification was' : 'notifications were'} given up`,
        fix: 'pawl notifications ls --state dead',
      }
    return { level: 'ok', detail }
  } finally {
    client.close()
  }
}

/** A schedule whose ticks fail looks like one that works, unless somebody says so. */
async function schedules(config: Config): Promise<Omit<Finding, 'name'>> {
  const found = await findDaemon(config.home)
  if (!found) return { level: 'ok', detail: 'nothing is fired while no daemon runs' }
  const { createClient } = await import('./client/index.ts')
  const client = createClient({ ...found, signal: AbortSignal.timeout(2_000) })
  try {
    const { active, paused, unhealthy, refused } = (await client.health()).schedules
    const [bad] = refused
    if (bad)
      return {
        level: 'fail',
        detail: refused.map(({ name, detail }) => `${name} of the settings is not in force: ${detail}`).join('; '),
        fix: `correct it in ${bad.source}, then start the daemon again`,
      }
    const failing = unhealthy.map(({ id, name, detail }) => `${name ?? id}: ${detail}`)
    const [first] = unhealthy
    if (first) return { level: 'fail', detail: failing.join('; '), fix: `pawl schedule show ${first.name ?? first.id}` }
    return { level: 'ok', detail: `${active} active, ${paused} paused` }
  } finally {
    client.close()
  }
}

/** Tasks that wait for an account look as if nothing happened. */
async function limits(config: Config): Promise<Omit<Finding, 'name'>> {
  const found = await findDaemon(config.home)
  if (!found) return { level: 'ok', detail: 'nobody asks a model while no daemon runs' }
  const { createClient } = await import('./client/index.ts')
  const client = createClient({ ...found, signal: AbortSignal.timeout(2_000) })
  try {
    const cooling = await client.listLimits()
    const told = cooling.map(
      ({ agents, until, why, waiting }) =>
        `${agents.join(', ')} until ${until}: ${why} (${waiting} ${waiting === 1 ? 'task waits' : 'tasks wait'})`,
    )
    return told.length === 0
      ? { level: 'ok', detail: 'no account is at a limit' }
      : { level: 'warn', detail: told.join('; '), fix: 'they go on by themselves; pawl limits ls, pawl limits clear AGENT' }
  } finally {
    client.close()
  }
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

async function settings(config: Config): Promise<Omit<Finding, 'name'>> {
  const files = [config.files.project, config.files.home].filter((file) => file !== undefined)
  if (config.untrusted) {
    return {
      level: 'warn',
      detail: `${config.untrusted.file} is not trusted; these do not count: ${config.untrusted.keys.join(', ')}`,
      fix: `read it, then: pawl trust ${config.untrusted.file}`,
    }
  }
  return {
    level: 'ok',
    detail: files.length > 0 ? files.join(', ') : 'none; the built-in agents are there ("pawl init" writes a file)',
  }
}

/** Can those who are to be told be reached? Nothing is said to them. */
async function notifications(config: Config): Promise<Finding[]> {
  const findings = config.notifications.map(async ({ name, way }): Promise<Finding> => {
    const row = `notification ${name}`
    try {
      if (way.kind === 'command') {
        const file = await findProgram(way.run[0]!, { path: searchPath(), folder: config.home })
        return { name: row, level: 'ok', detail: file }
      }
      const socket = await openReceiver(way, AbortSignal.timeout(5_000))
      socket.destroy()
      return { name: row, level: 'ok', detail: `${new URL(way.url).host} can be reached` }
    } catch (error) {
      return { name: row, level: 'fail', detail: messageOf(error), fix: `correct it, then: pawl notifications test ${name}` }
    }
  })
  return Promise.all(findings)
}

/** Is the key of each provider where it is said to be, and does the provider take it? One that is kept among the secrets is not looked at: that would need the database. */
async function providers(config: Config): Promise<Finding[]> {
  const findings = Object.entries(config.providers).map(async ([provider, settings]): Promise<Finding> => {
    const name = `provider ${provider}`
    const { key } = settings
    if (key && 'secret' in key)
      return { name, level: 'ok', detail: `its key is the secret "${key.secret}"; "pawl models --check" tries it` }
    const parts = { environment: environmentOf, secretsFor: async () => [], clock: systemClock }
    const read = keyReader(provider, key, { agent: '', user: '' }, parts)
    try {
      const { ok, detail } = await reachProvider(settings, (await read())?.value)
      return ok
        ? { name, level: 'ok', detail }
        : { name, level: 'fail', detail, fix: `correct providers.${provider}, or start it` }
    } catch (error) {
      return { name, level: 'fail', detail: messageOf(error), fix: 'put the key there' }
    }
  })
  return Promise.all(findings)
}

/** An agent that somebody configured must work; a built-in one may be missing. */
async function agents(config: Config): Promise<Finding[]> {
  return (await describeAgents(config)).map((agent) => ({
    name: `agent ${agent.name}`,
    level: agent.health.healthy
      ? agent.health.loggedIn === false
        ? 'warn'
        : 'ok'
      : agent.source === 'builtin'
        ? 'warn'
        : 'fail',
    detail: agent.health.detail,
    ...(agent.health.fix ? { fix: agent.health.fix } : {}),
  }))
}

async function sizeOf(folder: string): Promise<number> {
  let bytes = 0
  for (const entry of await readdir(folder, { recursive: true, withFileTypes: true }).catch(() => [])) {
    if (!entry.isFile()) continue
    bytes += await stat(join(entry.parentPath, entry.name)).then(
      (found) => found.size,
      // Gone meanwhile: logs and the database move their files about.
      () => 0,
    )
  }
  return bytes
}
