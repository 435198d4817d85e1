import { release } from 'node:os'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { version } from '../../base/version.ts'
import { hostPath } from '../../domain/base/path.ts'
import { messageOf } from '../../domain/error.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { wallsOf } from '../../engine/rights/walls.ts'
import { removeLeftBaits } from '../../engine/self-test/bait.ts'
import { createRememberedTests } from '../../engine/self-test/remembered.ts'
import { createSelfTests, type SelfTests } from '../../engine/self-test/self-tests.ts'
import type { SelfTestView } from '../../engine/self-test/view.ts'
import { chooseSandbox, type SandboxChoice } from '../../sandbox/index.ts'
import { processIdentity } from '../../sandbox/process/identity.ts'

/** The walls of this machine: which can be built, and whether they hold. */
export interface MachineWalls {
  /** Those for a profile; for none in particular, the best there are. */
  choose(profile?: Pick<Profile, 'walls'>): Promise<SandboxChoice>
  readonly selfTests: Pick<SelfTests, 'forProfile' | 'assertHolds'>
  /** What trying them has shown so far. */
  views(): readonly SelfTestView[]
}

export interface MachineWallsOptions {
  readonly home: string
  readonly clock: Clock
  /** Believe a test that another process passed since this machine was started, as one that lives for a single task does. */
  readonly believesEarlier?: boolean
}

export function createMachineWalls({ home, clock, believesEarlier = false }: MachineWallsOptions): MachineWalls {
  let tests: Promise<SelfTests> | undefined
  const known = () => {
    tests ??= trials()
    return tests
  }
  let current: SelfTests | undefined

  async function trials(): Promise<SelfTests> {
    const { sandbox, health } = await chooseSandbox()
    const user = health.enforced ? health.user : undefined
    await removeLeftBaits(home, clock.now())
    // Its detail names the version of what builds the walls, and what holds their limits.
    const ground = [processIdentity().bootId, release(), sandbox.name, health.detail, version, String(process.getuid?.())]
    current = createSelfTests({
      sandbox,
      home,
      user,
      clock,
      remembered: createRememberedTests({ home, ground, believed: believesEarlier }),
      walls: (profile, place) => ({
        ...wallsOf(profile, { ...place, hidden: [hostPath(home)], user, enforced: health.enforced, mounts: [], masks: [] }),
        door: true,
      }),
    })
    return current
  }

  return {
    choose: (profile) => chooseSandbox(profile && !profile.walls ? { wanted: 'none' } : {}),
    selfTests: {
      forProfile: async (profile) => (await known()).forProfile(profile),
      assertHolds: async (profile) => (await known()).assertHolds(profile),
    },
    views: () => current?.views() ?? [],
  }
}

/** Tries each of these profiles, so that the first run does not wait for it and a hole is known before anybody asks for work. */
export async function tryWalls(
  walls: MachineWalls,
  options: { profiles: readonly Profile[]; staysOn: boolean; log: Log; isOver: () => boolean },
): Promise<void> {
  const { profiles, log, isOver } = options
  try {
    const { sandbox, health } = await walls.choose()
    if (!health.enforced) return
    // First, so that what is tried is what runs get.
    if (options.staysOn && !isOver())
      await sandbox.ahead
        ?.start()
        .catch((error: unknown) => log.warn('nothing of the walls is got ready ahead', { error: messageOf(error) }))
    for (const profile of profiles) {
      if (!profile.walls) continue
      if (isOver()) return
      const test = await walls.selfTests.forProfile(profile)
      if (!test.passed)
        log.error('the walls do not hold', { profile: profile.name, escaped: test.escaped, failure: test.failure })
    }
  } catch (error) {
    log.error('the walls could not be tried', { error: String(error) })
  }
}
