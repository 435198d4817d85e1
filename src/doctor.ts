import { mkdtemp, readdir, rm, stat, statfs } from 'node:fs/promises'
import { connect } from 'node:net'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from './clock.ts'
import { type Config, environmentOf, searchPath } from './config.ts'
import { describeAgents } from './describe.ts'
import type { DoctorReport, Finding } from './domain/doctor.ts'
import { messageOf } from './domain/error.ts'
import { rightsOf } from './domain/profile/resolve.ts'
import type { AgentView } from './domain/view.ts'
import { openReceiver } from './egress/post.ts'
import { keyReader } from './engine/models/provider-key.ts'
import { reachProvider } from './engine/models/reach.ts'
import { findProgram } from './process/program.ts'
import { type FoundDaemon, findDaemon } from './run-file.ts'
import { embeddedStatus } from './store/embedded/server.ts'
import { createMachineWalls } from './walls.ts'

export type { DoctorReport, Finding } from './domain/doctor.ts'

/** Nothing that is looked at takes longer unless it hangs. */
const limitMs = 30_000

type Found = Omit<Finding, 'name'>

/**
 * Looks at everything a run will need, and tells of each thing as it is found. Changes nothing, starts nothing but a program that tries the walls, never throws, and
 * waits for nothing that hangs.
 */
export async function inspect(config: Config, onFinding: (finding: Finding) => void = () => undefined): Promise<DoctorReport> {
  const single: [string, () => Promise<Found>][] = [
    ['node', async () => ({ level: 'ok', detail: `Node ${process.versions.node}` })],
    ['home', () => home(config)],
    ['disk', () => disk(config)],
    ['database', () => database(config)],
    ['walls', () => walls(config)],
    ['daemon', () => daemon(config)],
    ['runs', () => runs(config)],
    ['schedules', () => schedules(config)],
    ['limits', () => limits(config)],
    ['settings', () => settings(config)],
  ]
  const several: [string, () => Promise<Finding[]>][] = [
    ...single.map(([name, look]): [string, () => Promise<Finding[]>] => [name, async () => [{ name, ...(await look()) }]]),
    ['notifications', () => notifications(config)],
    ['providers', () => providers(config)],
    ['mcp-servers', () => mcpServers(config)],
    ['agents', () => agents(config)],
  ]
  const [rows, sizeBytes] = await Promise.all([
    Promise.all(
      several.map(async ([name, look]) => {
        const found = await inTime(name, look)
        for (const finding of found) onFinding(finding)
        return found
      }),
    ),
    sizeOf(config.home),
  ])
  return { home: config.home, sizeBytes, rows: rows.flat() }
}

async function inTime(name: string, look: () => Promise<Finding[]>): Promise<Finding[]> {
  const late = Promise.withResolvers<Finding[]>()
  const timer = setTimeout(
    () => late.resolve([{ name, level: 'fail', detail: `it took longer than ${limitMs / 1_000} seconds to look at` }]),
    limitMs,
  )
  try {
    return await Promise.race([look(), late.promise])
  } catch (error) {
    return [{ name, level: 'fail', detail: messageOf(error) }]
  } finally {
    clearTimeout(timer)
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
    if (first) return { level: 'fail', detail: failing.join('; '), fix: `pawl schedules show ${first.name ?? first.id}` }
    return { level: 'ok', detail: `${active} active, ${paused} paused` }
  } finally {
    client.close()
  }
}

/** An agent whose runs fail one after the other, and a task that runs and says nothing, look like work unless somebody says so. */
async function runs(config: Config): Promise<Found> {
  const found = await findDaemon(config.home)
  if (!found) return { level: 'ok', detail: 'nothing runs while no daemon does' }
  const { createClient } = await import('./client/index.ts')
  const client = createClient({ ...found, signal: AbortSignal.timeout(2_000) })
  try {
    const { agents, stuck } = await client.health()
    const sick = agents.filter(({ healthy }) => !healthy)
    const told = [
      ...sick.map(({ agent, failedInARow, detail }) => `the last ${failedInARow} runs of ${agent} failed: ${detail}`),
      ...stuck.map(({ task, agent, silentSince }) => `${agent} has said nothing in ${task} since ${silentSince}`),
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

/** How the user's servers of tools were when somebody looked last. Nothing is started here: "pawl mcp-servers test" does that. */
async function mcpServers(config: Config): Promise<Finding[]> {
  const servers = Object.entries(config.mcpServers)
  if (servers.length === 0) return []
  const found = await findDaemon(config.home)
  const { createClient } = await import('./client/index.ts')
  const client = found && createClient({ ...found, signal: AbortSignal.timeout(2_000) })
  try {
    const seen = new Map((await client?.listMcpServers())?.map((view) => [view.name, view.health]))
    return await Promise.all(
      servers
        .map(async ([server, settings]): Promise<Finding> => {
          const name = `server ${server}`
          const health = seen.get(server)
          const tryIt = `pawl mcp-servers test ${server}`
          if (health?.state === 'reachable')
            return {
              name,
              level: 'ok',
              detail: `${health.server} ${health.version}, ${health.tools?.length ?? 0} tools (MCP ${health.protocol})`,
            }
          if (health?.error) {
            const fix =
              health.state === 'sign_in' && settings.kind === 'http' && settings.oauth
                ? `pawl mcp-servers sign-in ${server}`
                : tryIt
            return { name, level: 'fail', detail: health.error, fix }
          }
          if (settings.kind === 'stdio' && !settings.command.includes('${'))
            await findProgram(settings.command, { path: searchPath(), folder: config.home })
          return { name, level: 'ok', detail: `nobody has looked at it yet; "${tryIt}" does` }
        })
        .map((finding, index) =>
          finding.catch(
            (error: unknown): Finding => ({
              name: `server ${servers[index]![0]}`,
              level: 'fail',
              detail: messageOf(error),
              fix: `correct mcpServers.${servers[index]![0]}`,
            }),
          ),
        ),
    )
  } finally {
    client?.close()
  }
}

/** An agent that somebody configured must work, and one whose program is there should; those that Pawl merely knows are told in one line. */
async function agents(config: Config): Promise<Finding[]> {
  const all = await describeAgents(config)
  const isMerelyKnown = (agent: AgentView) => agent.source === 'builtin' && !agent.health.installed
  const known = all.filter(isMerelyKnown).map(({ name }) => name)
  const rows = all
    .filter((agent) => !isMerelyKnown(agent))
    .map(({ name, source, health }): Finding => {
      const { healthy, loggedIn, detail, fix } = health
      const level = healthy ? (loggedIn === false ? 'warn' : 'ok') : source === 'builtin' ? 'warn' : 'fail'
      return { name: `agent ${name}`, level, detail, ...(fix ? { fix } : {}) }
    })
  if (known.length === 0) return rows
  const detail = `known here, not installed and not configured: ${known.join(', ')}`
  return [...rows, { name: 'other agents', level: 'note', detail, fix: 'pawl agents says how each is installed' }]
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
