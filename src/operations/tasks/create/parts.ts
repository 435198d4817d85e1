import type { Adapter } from '../../../agents/port.ts'
import type { Clock } from '../../../base/clock.ts'
import type { ResolvedAgent } from '../../../domain/agent/agent-config.ts'
import type { FileLimits } from '../../../domain/files/limits.ts'
import type { Prices } from '../../../domain/money/prices.ts'
import type { Notification } from '../../../domain/notification/notification.ts'
import type { MountBase, ProfileMount } from '../../../domain/profile/profile.ts'
import type { Ground, UserProfiles } from '../../../domain/profile/resolve.ts'
import type { QuestionSettings } from '../../../domain/question/settings.ts'
import type { Audit } from '../../../engine/auth/audit.ts'
import type { Probe } from '../../../engine/run/probes.ts'
import type { Db } from '../../../store/database.ts'

export interface TaskCreatorParts {
  /** The profiles of the settings, and what lies under all; none if left out. */
  readonly profiles?: UserProfiles | undefined
  readonly ground?: Ground | undefined
  readonly db: Db
  readonly clock: Clock
  readonly audit: Audit
  readonly home: string
  readonly adapterNamed: (name: string, options?: unknown) => Adapter
  readonly agents: readonly ResolvedAgent[]
  /** Whom questions can be escalated to. */
  readonly notifications?: readonly Notification[] | undefined
  /** Who may answer questions, where the settings say so. */
  readonly questions?: QuestionSettings
  readonly defaultAgent: () => Promise<string>
  readonly probe: Probe
  /** What models cost and where keys may be, so that a budget that is too small can be told of. */
  readonly prices: Prices
  readonly environment: (names: readonly string[]) => Record<string, string>
  /** Tasks made here are kept for this process alone while it lives: one-shots run their own task and nobody else's. */
  readonly boundTo: string | null
  readonly maxQueued: number
  /** The folders in and below which those who are no admins may have agents work. */
  readonly sharedWorkspaces: readonly string[]
  /** The folders that a task may name, by name, and what each user has under every profile. */
  readonly mountBases?: Readonly<Record<string, MountBase>> | undefined
  readonly userMounts?: ((user: string) => readonly ProfileMount[]) | undefined
  /** How many files a task may be given, and how large. */
  readonly files?: FileLimits | undefined
  /** May addresses that are told of tasks be on this machine or in a private network, and without TLS? */
  readonly allowsPrivateListeners?: boolean | undefined
  /** Throws why no work can be taken now: a full disk, for one. */
  readonly assertRoom: () => Promise<void>
}
