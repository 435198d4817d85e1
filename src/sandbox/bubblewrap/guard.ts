import type { WallLimits } from '../port.ts'
import { descendantsOf } from '../process/identity.ts'
import { openTreeAccount } from './cgroup.ts'
import { type Held, heldBy } from './limits.ts'
import type { MemoryWatch } from './memory-watch.ts'

/** Holds the limits that are of the whole tree inside the walls, not of single processes. */
export interface Guard {
  readonly held: Held
  onLimit(tell: (limit: 'memory') => void): void
  /** To be called when the walls have ended, before anybody is told. */
  ended(): void
  /** To be called when nothing of the tree lives any more. May be called twice. */
  close(): void
}

export interface Guarded {
  /** The outermost process. Nothing of the agent has started yet. */
  readonly pid: number
  /** The first process that sees what the agent sees, and the folders in memory that both see. */
  readonly first: number
  readonly rooms: readonly string[]
  readonly name: string
  readonly limits: WallLimits
  /** The control group below which the kernel keeps accounts for us, if there is one. */
  readonly group: string | undefined
  readonly memory: MemoryWatch
  kill(): void
}

export function guardLimits({ pid, first, rooms, name, limits, group, memory, kill }: Guarded): Guard {
  const account = group === undefined ? undefined : openTreeAccount(group, name, limits)
  if (account) for (const member of [pid, ...descendantsOf(pid)]) account.add(member)
  let isOver = false
  let tell: ((limit: 'memory') => void) | undefined
  function over(): void {
    if (isOver) return
    isOver = true
    tell?.('memory')
  }
  const unwatch =
    account || limits.memoryBytes === undefined
      ? () => {}
      : memory.add({ pid, bytes: limits.memoryBytes, rooms: rooms.map((path) => `/proc/${first}/root${path}`) }, () => {
          over()
          kill()
        })
  return {
    held: heldBy(limits, { tree: account !== undefined }),
    onLimit(listener) {
      tell = listener
      if (isOver) listener('memory')
    },
    ended() {
      unwatch()
      if (account?.ranOutOfMemory()) over()
    },
    close: () => account?.close(),
  }
}
