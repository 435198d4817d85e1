import { z } from 'zod'
import type { MountBase, ProfileMount } from '../domain/profile/profile.ts'
import { Env } from './env-schema.ts'
import { absolute } from './places.ts'
import { Mount } from './profile-entry.ts'
import { mountOf, placeMount } from './profile-settings.ts'

/** One entry of `users:`. */
export const UserEntry = z.strictObject({
  env: Env.nullish().describe('Variables for this user’s runs; they win over all others.'),
  mounts: z.array(Mount).nullish().describe('What this user’s runs see under every profile; left out where it is missing.'),
})
export type UserEntry = z.output<typeof UserEntry>

/** One entry of `mounts:`, a folder that tasks may name. */
export const MountBaseEntry = z.strictObject({
  path: z.string().min(1, { error: 'must not be empty' }).describe('A folder of this machine.'),
  mode: z.enum(['ro', 'rw']).default('ro').describe('Whether tasks may ask to write there.'),
  description: z.string().default('').describe('What the agent is told it is for.'),
  users: z.array(z.string().min(1)).optional().describe('Only tasks of these users; of all if left out.'),
})
export type MountBaseEntry = z.output<typeof MountBaseEntry>

/** Paths are seen from the file they stand in. */
export function placeUser(entry: UserEntry, folder: string, userHome: string | undefined): UserEntry {
  if (!entry.mounts) return entry
  return { ...entry, mounts: entry.mounts.map((mount) => placeMount(mount, (path) => absolute(path, folder, userHome))) }
}

export const placeBase = (entry: MountBaseEntry, folder: string, userHome: string | undefined): MountBaseEntry => ({
  ...entry,
  path: absolute(entry.path, folder, userHome),
})

/** A run does not fail because a folder of its user is missing, unless the settings say so. */
export const userMounts = ({ mounts }: UserEntry): ProfileMount[] =>
  (mounts ?? []).map((mount) => ({ ...mountOf({ required: false, ...mount }), from: 'user' }))

export const mountBases = (entries: Readonly<Record<string, MountBaseEntry>> | null | undefined): Record<string, MountBase> =>
  entries ?? {}
