import { totalmem } from 'node:os'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import type { WarmView } from '../../domain/view/view.ts'
import type { LiveAgent } from './live-agent.ts'

/**
 * Agent programs that wait, frozen, for the next turn of their session, so that it costs no start. They belong to the session and to this process; whoever finds none
 * starts one, and correctness never depends on them.
 */
export interface Warm {
  /**
   * The program of this session, still frozen, if it lives and everything about it is as the next run wants it. Any other of that session is ended. To be called when
   * everything that the next run covers has been put in its place.
   */
  take(session: string, wanted: Likeness): Promise<LiveAgent | undefined>
  /** Keeps a frozen program whose turn has ended, or ends it if there is no room. */
  keep(entry: Kept): void
  /** Ends the program of a session, for one whose conversation is not gone on with. */
  drop(session: string): Promise<void>
  /** Ends all that wait now; others may be kept later. */
  clear(): Promise<void>
  list(): WarmView[]
  /** Ends all of them; nothing is kept from here on. */
  stop(): Promise<void>
}

/** What must be equal for a program to serve another run, by name: whoever differs is told, and not what it was. */
export type Likeness = Readonly<Record<string, string>>

export interface Kept {
  readonly session: string
  readonly agentName: string
  readonly agent: LiveAgent
  readonly likeness: Likeness
  /** Called when it has ended without having served another run. */
  readonly onEnd?: (() => Promise<void>) | undefined
}

export interface WarmOptions {
  readonly clock: Clock
  readonly log: Log
  /** How many may wait at once. */
  readonly most: number
  readonly idleMs: number
  /** The share of the machine's memory that is free. */
  readonly freeMemory?: () => number
}

/** In a container, of what the container may use. */
function shareOfFreeMemory(): number {
  const constrained = process.constrainedMemory()
  return process.availableMemory() / (constrained > 0 ? Math.min(constrained, totalmem()) : totalmem())
}

/** Below this share of free memory nothing idle is worth its place. */
const leastFreeMemory = 0.1
const lookEveryMs = 5_000

interface Waiting extends Kept {
  readonly sinceMs: number
  readonly cancel: () => void
}

export function createWarm(options: WarmOptions): Warm {
  const { clock, log, most, idleMs, freeMemory = shareOfFreeMemory } = options
  // In the order in which they were kept: the first has waited longest.
  const waiting = new Map<string, Waiting>()
  /** Until a program is gone, its session home is its own: nobody else may start there. */
  const ending = new Map<string, Promise<void>>()
  let stopped = false
  let cancelLook: (() => void) | undefined

  const end = (one: Waiting, reason: string): Promise<void> => {
    one.cancel()
    if (waiting.get(one.session) === one) waiting.delete(one.session)
    log.debug('a warm agent program is ended', { session: one.session, reason })
    const earlier = ending.get(one.session)
    const done: Promise<void> = Promise.all([one.agent.end(), earlier])
      .then(() => one.onEnd?.())
      .catch((error: unknown) => log.warn('a warm agent program did not end cleanly', { error: messageOf(error) }))
      .finally(() => {
        if (ending.get(one.session) === done) ending.delete(one.session)
      })
    ending.set(one.session, done)
    return done
  }
  const look = () => {
    const oldest = waiting.values().next().value
    if (oldest && freeMemory() < leastFreeMemory) void end(oldest, 'memory_pressure')
    cancelLook = waiting.size > 0 ? clock.after(lookEveryMs, look) : undefined
  }

  return {
    async take(session, wanted) {
      await ending.get(session)
      const one = waiting.get(session)
      if (!one) return undefined
      const why = one.agent.hasEnded()
        ? 'gone'
        : (difference(one.likeness, wanted) ?? (one.agent.isCovered() ? undefined : 'masks'))
      if (why !== undefined) {
        await end(one, why)
        return undefined
      }
      one.cancel()
      waiting.delete(session)
      return one.agent
    },
    keep(kept) {
      const { session, agent } = kept
      const cancel = clock.after(idleMs, () => void end(one, 'idle'))
      const one: Waiting = { ...kept, sinceMs: clock.now(), cancel }
      const earlier = waiting.get(session)
      if (earlier) void end(earlier, 'replaced')
      waiting.set(session, one)
      agent.onEnd(() => {
        if (waiting.get(session) === one) void end(one, 'gone')
      })
      if (stopped || idleMs === 0) void end(one, 'not_kept')
      for (const oldest of waiting.values()) {
        if (waiting.size <= most) break
        void end(oldest, 'too_many')
      }
      cancelLook ??= clock.after(0, look)
    },
    async drop(session) {
      const one = waiting.get(session)
      await (one ? end(one, 'dropped') : ending.get(session))
    },
    list: () =>
      [...waiting.values()].map(({ session, agentName, agent, sinceMs }) => ({
        session,
        agent: agentName,
        pid: agent.pid,
        idleSince: new Date(sinceMs).toISOString(),
      })),
    async clear() {
      for (const one of waiting.values()) void end(one, 'halted')
      await Promise.all(ending.values())
    },
    async stop() {
      stopped = true
      cancelLook?.()
      for (const one of waiting.values()) void end(one, 'stopped')
      await Promise.all(ending.values())
    },
  }
}

/** The name of the first thing that differs, or that only one of them has. */
function difference(kept: Likeness, wanted: Likeness): string | undefined {
  return [...new Set([...Object.keys(kept), ...Object.keys(wanted)])].find((name) => kept[name] !== wanted[name])
}
