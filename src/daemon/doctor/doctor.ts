import { readdir, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Config } from '../../config/config.ts'
import { messageOf } from '../../domain/error.ts'
import type { DoctorReport, Finding, Found } from '../../domain/view/doctor.ts'
import { agents } from './agents.ts'
import { daemon, limits, runs, schedules } from './daemon.ts'
import { database, disk, home, walls } from './machine.ts'
import { mcpServers } from './mcp-servers.ts'
import { prices } from './prices.ts'
import { notifications, providers, settings } from './settings.ts'

export type { DoctorReport, Finding } from '../../domain/view/doctor.ts'

/** Nothing that is looked at takes longer unless it hangs. */
const limitMs = 30_000

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
    ['prices', async () => prices(config)],
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
