import { notFound, PawlError } from '../domain/error.ts'
import { type Profile, profileNames } from '../domain/profile/profile.ts'
import { type Ground, resolveProfile, type UserProfiles } from '../domain/profile/resolve.ts'
import {
  type CallToExplain,
  type DecisionView,
  explainCall,
  type ProfileSummary,
  type ProfileView,
  profileSummary,
  profileView,
} from '../domain/profile/view.ts'

/** What can be asked about profiles: what runs may see and do, by name. */
export interface ProfileVerbs {
  /** The built-in ones from the narrowest to the widest, then those of the settings. */
  listProfiles(): Promise<ProfileSummary[]>
  getProfile(name: string): Promise<ProfileView>
  /** What would become of a call, and which rule decides. */
  explainCall(profile: string, call: CallToExplain): Promise<DecisionView>
}

export interface ProfileVerbParts {
  /** The profiles of the settings, and what lies under all; none if left out. */
  readonly profiles?: UserProfiles | undefined
  readonly ground?: Ground | undefined
}

export function profileVerbs({ profiles = {}, ground = {} }: ProfileVerbParts): ProfileVerbs {
  const named = (name: string): Profile => {
    try {
      return resolveProfile(name, profiles, ground)
    } catch (error) {
      throw error instanceof PawlError ? notFound(error.message) : error
    }
  }
  return {
    listProfiles: () => Promise.all([...profileNames, ...Object.keys(profiles)].map((name) => profileSummary(named(name)))),
    getProfile: async (name) => profileView(named(name)),
    explainCall: async (name, call) => explainCall(named(name), call),
  }
}
