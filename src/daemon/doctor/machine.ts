import { mkdtemp, stat, statfs } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import pg from 'pg'
import { systemClock } from '../../base/clock.ts'
import type { Config } from '../../config/config.ts'
import { messageOf } from '../../domain/error.ts'
import { rightsOf } from '../../domain/profile/resolve.ts'
import type { Found } from '../../domain/view/doctor.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
import { embeddedStatus } from '../../store/embedded/server.ts'
import { createMachineWalls } from '../machine/sandbox.ts'

export async function home(config: Config): Promise<Found> {
  const { mode } = await stat(config.home)
  if ((mode & 0o077) !== 0)
    return { level: 'warn', detail: `${config.home} can be read by others`, fix: `chmod 700 ${config.home}` }
  return { level: 'ok', detail: config.home }
}

export async function disk(config: Config): Promise<Found> {
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

export async function database(config: Config): Promise<Found> {
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
export async function walls(config: Config): Promise<Found> {
  // What is hidden from agents is hidden here too, and a home that does not exist yet is not made.
  const home = await mkdtemp(join(tmpdir(), `pawl-doctor${temporarySuffix()}-`))
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
    await removeTree(home)
  }
}
