import { PawlError } from '../../domain/error.ts'
import { profileDigest } from '../../domain/profile/digest.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { Walls } from '../../sandbox/port.ts'
import type { RememberedTests } from './remembered.ts'
import { type SelfTest, type SelfTestOptions, type SelfTestPlace, selfTest } from './self-test.ts'
import { type SelfTestView, viewOf } from './view.ts'

/** Knows of each profile whether its walls hold. */
export interface SelfTests {
  /** Tried once for everything that the profile says, not again for a profile that says the same. One that failed is tried anew. */
  forProfile(profile: Profile): Promise<SelfTest>
  /** Rejects, in a sentence, if no sandboxed work may start with this profile. */
  assertHolds(profile: Profile): Promise<void>
  /** What is known now, by the name of the profile. */
  readonly views: () => readonly SelfTestView[]
}

export interface SelfTestsOptions extends Omit<SelfTestOptions, 'profile' | 'walls'> {
  walls(profile: Profile, place: SelfTestPlace): Walls
  readonly remembered?: RememberedTests | undefined
}

export function createSelfTests(options: SelfTestsOptions): SelfTests {
  const tests = new Map<string, Promise<SelfTest>>()
  const views = new Map<string, SelfTestView>()
  const tryOrRemember = async (profile: Profile, digest: string): Promise<SelfTest> => {
    const known = await options.remembered?.find(digest)
    if (known) return known
    const found = await selfTest({ ...options, profile, walls: (place) => options.walls(profile, place) })
    await options.remembered?.keep(digest, found)
    return found
  }
  const forProfile = async (profile: Profile): Promise<SelfTest> => {
    const digest = await profileDigest(profile)
    let test = tests.get(digest)
    if (!test) {
      test = tryOrRemember(profile, digest)
      tests.set(digest, test)
    }
    const found = await test
    // A machine may be mended; walls that hold stay as they are.
    if (!found.passed && tests.get(digest) === test) tests.delete(digest)
    views.set(profile.name, viewOf(profile.name, found))
    return found
  }
  return {
    forProfile,
    async assertHolds(profile) {
      const refusal = refusalOf(await forProfile(profile), profile.name)
      if (refusal !== undefined) throw new PawlError('unavailable', refusal)
    },
    views: () => [...views.values()],
  }
}

/** Why no sandboxed work may start; undefined if it may. */
export function refusalOf(test: SelfTest, profile: string): string | undefined {
  if (test.passed) return undefined
  const told = test.failure ?? test.escaped.map(({ canary, sentence }) => `${canary}: ${sentence}`).join(' ')
  return `The walls of the profile "${profile}" do not hold, so nothing starts in them. ${told} Run "pawl doctor".`
}
