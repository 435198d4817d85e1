import { createHash } from 'node:crypto'
import type { LaunchSpec } from '../port.ts'

/** How far 2.1.325 is; a version that is elsewhere looks for what to take over all the same. */
const migrationVersion = 15

/**
 * What the program writes down in a home that it has never seen: when that was, two numbers to be counted by, and that it has nothing of older versions to take over. Left to
 * it, that is six writes to disk one after the other, before it does anything else.
 */
export function firstStart({ home, version }: Pick<LaunchSpec, 'home' | 'version'>, now = new Date()): Record<string, string> {
  const idOf = (what: string) => createHash('sha256').update(`${what} ${home}`).digest('hex')
  const state = {
    firstStartTime: now.toISOString(),
    firstStartVersion: version,
    machineID: idOf('machine'),
    userID: idOf('user'),
    opusProMigrationComplete: true,
    hasResetAutoModeOptInForDefaultOffer: true,
    migrationVersion,
    seenNotifications: {},
  }
  return { '.claude/.claude.json': JSON.stringify(state) }
}
