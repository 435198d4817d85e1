import { findAgent } from '../../config/load.ts'
import { invalid, PawlError } from '../../domain/error.ts'
import { type Profile, profileNames } from '../../domain/profile/profile.ts'
import { defaultProfile, resolveProfile, rightsOf } from '../../domain/profile/resolve.ts'
import { type ProfileSummary, profileSummary } from '../../domain/profile/view.ts'
import type { Cli } from '../terminal/cli.ts'
import { readSettings } from './settings.ts'

/** The profiles as the settings of this folder have them: what a task asked for here would be given. */
export interface ProfilesHere {
  list(): Promise<ProfileSummary[]>
  named(name: string): Profile
  /** The one that was named, or that of an agent. */
  chosen(by: { profile?: string; agent?: string }): Profile
}

export async function profilesHere(cli: Cli): Promise<ProfilesHere> {
  const config = await readSettings(cli, { askTrust: true })
  const named = (name: string) => resolveProfile(name, config.profiles, { env: config.env })
  return {
    list: () => Promise.all([...profileNames, ...Object.keys(config.profiles)].map((name) => profileSummary(named(name)))),
    named,
    chosen({ profile, agent }) {
      if (profile !== undefined && agent !== undefined) throw invalid('Name a profile or an agent, not both.')
      if (agent === undefined) return named(profile ?? defaultProfile)
      try {
        return rightsOf(findAgent(config, agent))
      } catch (error) {
        throw error instanceof PawlError && error.code === 'not_found' ? invalid(error.message) : error
      }
    },
  }
}
