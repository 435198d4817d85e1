import { z } from 'zod'
import { type Decision, decide } from './decide.ts'
import { profileDigest } from './digest.ts'
import { type Profile, profileNames } from './profile.ts'
import { isBuiltin } from './resolve.ts'
import { ProfileSchema } from './schema.ts'

/** What every surface shows of profiles. */
export const ProfileSummary = z.object({
  name: z.string(),
  base: z.enum(profileNames).describe('The built-in profile that it stands on.'),
  source: z.enum(['builtin', 'settings']),
  walls: z.boolean().describe('False: its runs have all the rights of Pawl’s own user.'),
  digest: z.string().describe('Of everything it says: two profiles with one digest hold a run alike.'),
})
export type ProfileSummary = z.infer<typeof ProfileSummary>

export const ProfileView = ProfileSummary.extend({
  profile: ProfileSchema.describe('Every setting, as a run is given it; the values of variables are masked.'),
})
export type ProfileView = z.infer<typeof ProfileView>

export const CallToExplain = z.strictObject({
  tool: z.string().min(1).max(1024).describe('As the program calls it, or as rules do.'),
  input: z.record(z.string(), z.unknown()).default({}).describe('What the tool is given.'),
  workspace: z.string().max(4096).optional().describe('Relative paths are seen from here.'),
})
export type CallToExplain = z.infer<typeof CallToExplain>

export const DecisionView = z.object({
  profile: z.string(),
  verdict: z.enum(['allow', 'ask', 'deny']),
  rule: z.string().nullable().describe('As the profile has it; null if no rule is about the call.'),
  from: z.string().describe('The setting that decides.'),
  why: z.string(),
})
export type DecisionView = z.infer<typeof DecisionView>

export async function profileView(profile: Profile): Promise<ProfileView> {
  const { name, base, walls } = profile
  const masked = Object.fromEntries(Object.keys(profile.env.set).map((variable) => [variable, '***']))
  return {
    name,
    base,
    source: isBuiltin(name) ? 'builtin' : 'settings',
    walls,
    digest: await profileDigest(profile),
    profile: { ...profile, env: { ...profile.env, set: masked } },
  }
}

export async function profileSummary(profile: Profile): Promise<ProfileSummary> {
  const { profile: _, ...summary } = await profileView(profile)
  return summary
}

export function explainCall(profile: Profile, { tool, input, workspace }: CallToExplain): DecisionView {
  const { verdict, rule, from, why }: Decision = decide(profile, { tool, input }, { workspace })
  return { profile: profile.name, verdict, rule: rule ?? null, from, why }
}
