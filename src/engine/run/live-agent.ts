import type { Conversation, Turn, Verdict } from '../../agents/port.ts'
import { type Clock, sleep } from '../../base/clock.ts'
import { type Secret, secretsIn } from '../../domain/base/secret-names.ts'
import { pauserOf, type Walled } from '../../sandbox/port.ts'
import type { Exit, KillUnit } from '../../sandbox/process/child.ts'
import type { OpenAccess } from '../auth/agent-access.ts'
import type { StopReason, Watch } from '../base/watch.ts'
import type { Door, DoorVerbs } from '../endpoint/endpoint.ts'
import type { RecordedChild, RecordOptions } from './raw-log.ts'

/** A started agent program inside its sandbox, with its conversation and its run endpoint. It serves one run at a time, and belongs to nobody, frozen, between two. */
export interface LiveAgent {
  readonly pid: number
  readonly unit: KillUnit
  /** What holds each of its limits. */
  readonly held: Walled['held']
  /** What it was started with and what lets it in: secrets of every run it serves. */
  secrets(): Secret[]
  /** One turn for one run: while it lasts, the door is that run's and what the program prints is kept there. */
  serve(run: Service): Promise<Verdict>
  /** Does nothing but the program itself live inside its sandbox? */
  isAlone(): boolean
  /** Stops it until it serves the next run. False: it could not be stopped, or is not alone; it is to be ended. */
  freeze(): Promise<boolean>
  /** Is what was covered for it at its start still, or again, covered? */
  isCovered(): boolean
  hasEnded(): boolean
  onEnd(tell: () => void): void
  /** A login that the program refreshed goes back to where it came from. */
  returnLogin(): Promise<void>
  /** Lets the program go and ends whatever of it is left. May be called twice. */
  end(graceMs?: number): Promise<Exit>
}

export interface Service {
  readonly turn: Turn
  readonly watch: Watch
  readonly graceMs: number
  readonly records: RecordOptions
  readonly door: DoorVerbs
}

/** A program that was asked to stop by its own protocol gets this long to say how far it came. */
const interruptMs = 3_000
const overMemory: StopReason = {
  kind: 'limit',
  category: 'oom',
  message: 'The agent and what it started took more memory than limits.memory of its profile allows.',
}
/** One that was let go ends by itself, mostly at once. */
const partingMs = 1_000

export function createLiveAgent(parts: {
  walled: Walled
  conversation: Conversation
  recorded: RecordedChild
  door: Door | undefined
  unit: KillUnit
  environment: Readonly<Record<string, string>>
  access: OpenAccess
  clock: Clock
}): LiveAgent {
  const { walled, conversation, recorded, door, access, clock } = parts
  const { child } = walled
  let ended: Exit | undefined
  let ending: Promise<Exit> | undefined
  let isServing = false
  let isUnbidden = false
  let isFrozen = false
  let watching: Watch | undefined
  walled.onLimit?.(() => watching?.stop(overMemory))
  void child.exited.then((exit) => {
    ended = exit
  })

  const end = async (graceMs: number): Promise<Exit> => {
    try {
      if (!ended && graceMs > 0) {
        await conversation.close()
        await Promise.race([child.exited, sleep(clock, Math.min(partingMs, graceMs))])
      }
      return await child.stop({ graceMs })
    } finally {
      await each([
        () => child.stop({ graceMs: 0 }),
        () => conversation.close(),
        () => door?.close(),
        () => recorded.into(undefined),
        () => access.close(),
      ])
    }
  }

  const endOnce = (wantedMs: number): Promise<Exit> => {
    // What is frozen can only be killed: it answers nothing, and was let go of when its turn ended.
    const graceMs = isFrozen || watching?.isHeld ? 0 : wantedMs
    // A harder end cuts short the grace of one that is under way.
    if (ending && graceMs === 0) void child.stop({ graceMs }).catch(() => undefined)
    ending ??= end(graceMs)
    return ending
  }
  conversation.onUnbidden?.(() => {
    isUnbidden = true
    // Whoever is served ends it. One that does not die is reported to whoever owns the agent and calls `end` too.
    if (!isServing) void endOnce(0).catch(() => undefined)
  })

  return {
    pid: child.pid,
    unit: parts.unit,
    held: walled.held,
    secrets: () => [...secretsIn(parts.environment), ...access.secrets()],
    isAlone: walled.isAlone,
    async freeze() {
      if (!walled.freezer) return false
      isFrozen = true
      // Looked at once more: until it was frozen it may have started something.
      if (!(await walled.freezer.freeze()) || !walled.isAlone()) return false
      door?.letGo()
      return true
    },
    isCovered: () => walled.freezer?.isCovered() ?? false,
    returnLogin: access.returnLogin,
    hasEnded: () => ended !== undefined || ending !== undefined,
    onEnd: (tell) => void child.exited.then(tell),
    async serve({ turn, watch, graceMs, records, door: verbs }) {
      isServing = true
      await recorded.into(records)
      await door?.bind(verbs)
      if (isFrozen) {
        isFrozen = false
        await walled.freezer?.thaw()
        // What it did at once, being due, has been read before it is told anything.
        await nextTurn()
      }
      const done = Promise.withResolvers<void>()
      const stop = async () => {
        const grace = watch.graceMs(graceMs)
        if (conversation.interrupts && grace > 0) await Promise.race([done.promise, sleep(clock, Math.min(interruptMs, grace))])
        await child.stop({ graceMs: watch.graceMs(graceMs) })
      }
      // One that does not die is reported by `end`, which whoever owns the agent calls next.
      watching = watch
      const leave = watch.accompany(pauserOf(walled), child.pid)
      void child.exited.then(leave)
      watch.begin(() => void stop().catch(() => undefined))
      let verdict: Verdict
      try {
        verdict = await conversation.turn(turn)
      } finally {
        done.resolve()
        await watch.untilConfirmed()
        // Between two turns it is frozen by others, and for another reason.
        leave()
        watching = undefined
        watch.finish()
        await door?.bind(undefined)
        await recorded.into(undefined)
        isServing = false
      }
      return isUnbidden ? { ...verdict, mayGoOn: false } : verdict
    },
    end: (graceMs = 2_000) => endOnce(graceMs),
  }
}

/** All that has come in is read before this resolves. */
async function nextTurn(): Promise<void> {
  for (let times = 0; times < 2; times++) await new Promise(setImmediate)
}

/** One that fails does not keep the others from their part; the first failure is told when all are done. */
async function each(steps: readonly (() => unknown)[]): Promise<void> {
  const failures: unknown[] = []
  for (const step of steps) {
    try {
      await step()
    } catch (error) {
      failures.push(error)
    }
  }
  if (failures.length > 0) throw failures[0]
}
