import type { Profile } from '../../domain/profile/profile.ts'
import type { Mask, Walls } from '../../sandbox/port.ts'

/** Where the walls stand, and what only the machine and the run can tell of them. */
export interface WallsPlace extends Pick<Walls, 'unit' | 'workspace' | 'home' | 'hidden' | 'covered' | 'user'> {
  /** Do walls hold here? Without, the network cannot be closed either. */
  readonly enforced: boolean
  readonly mounts: NonNullable<Walls['mounts']>
  readonly masks: readonly Mask[]
}

/** What a profile says, as walls. Whoever tries the walls of a profile and whoever works behind them get the same. */
export function wallsOf({ limits, nestedNamespaces }: Profile, { enforced, ...place }: WallsPlace): Omit<Walls, 'door'> {
  return {
    ...place,
    network: enforced ? 'none' : 'host',
    limits: {
      processes: limits.processes,
      openFiles: limits.openFiles,
      memoryBytes: limits.memoryMb * megabyte,
      fileBytes: limits.fileMb * megabyte,
    },
    nestedNamespaces,
  }
}

export const megabyte = 1024 * 1024
