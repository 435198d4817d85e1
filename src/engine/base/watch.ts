import type { LifeSign } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { Pauser } from '../../sandbox/port.ts'
import { sumOf, useOf } from '../../sandbox/process/use.ts'
import { type Doing, lengthOf, type OpenCall, WorkWatch, workLimits } from './working.ts'

/** Why a run is ended by us and not by its agent. The first reason stands, but a lost lease outranks all: then nothing may be written. */
export type StopReason =
  | { readonly kind: 'cancelled'; readonly now: boolean }
  | { readonly kind: 'interrupted' }
  | { readonly kind: 'lease_lost' }
  | { readonly kind: 'timed_out'; readonly category: 'total_timeout' | 'idle_timeout'; readonly message: string }
  /** A person was asked whether it may go on. */
  | { readonly kind: 'asked' }
  | { readonly kind: 'limit'; readonly category: 'output_limit' | 'oom' | 'disk_limit' | 'max_turns'; readonly message: string }
  | { readonly kind: 'denied'; readonly message: string }
  | { readonly kind: 'tripped'; readonly message: string }
  | { readonly kind: 'over_budget'; readonly message: string }

const endSeenWithinMs = 100

/** The timers of one run, and the one place that knows whether and why it was told to stop. */
export class Watch {
  reason: StopReason | undefined
  readonly #controller = new AbortController()
  readonly #clock: Clock
  /** Undefined if any silence is allowed. */
  readonly #work: WorkWatch | undefined
  readonly #cancels: (() => void)[] = []
  #askAbout: ((call: OpenCall, openMs: number) => void) | undefined
  #check: Doing | undefined
  #end: (() => void) | undefined
  #held: PromiseWithResolvers<void> | undefined
  /** With what is still to be done to each: what was stopped a moment ago may have to go on. */
  readonly #paused = new Map<Pauser, Promise<void>>()
  readonly #ends = new Map<Pauser, () => void>()
  /** The outermost process of each of them. */
  readonly #pids = new Map<Pauser, number>()

  constructor(clock: Clock, limits: { totalMs: number | null; idleMs: number | null }) {
    this.#clock = clock
    const { totalMs, idleMs } = limits
    if (idleMs !== null)
      this.#work = new WorkWatch({
        clock,
        limits: workLimits(idleMs),
        use: () => sumOf([...this.#pids.values()].map(useOf)),
        onStall: (seen) => this.stop({ kind: 'timed_out', category: 'idle_timeout', message: `The agent said ${seen}` }),
        onOverlong: (call, now) => this.#askAbout?.(call, now - call.since),
      })
    if (totalMs === null) return
    // Preparing counts: a copy of a huge workspace may take as long as the work.
    const message = `The run took longer than ${lengthOf(totalMs)}.`
    this.#after(totalMs, () => this.stop({ kind: 'timed_out', category: 'total_timeout', message }))
  }

  get signal(): AbortSignal {
    return this.#controller.signal
  }

  /** The agent runs: its silence is watched from now on; `end` is called for every stop, so that a later, harder one can cut the grace short. */
  begin(end: () => void): void {
    this.#end = end
    this.#work?.start()
    if (this.reason) end()
  }

  /** Called when a tool call has been open for longer than counts as work, and again from time to time until it returns or the run is stopped. */
  whenOverlong(ask: (call: OpenCall, openMs: number) => void): void {
    this.#askAbout = ask
  }

  /** The turn is over: silence is expected from now on, and there is nobody left to stop. */
  finish(): void {
    this.#work?.stop()
    this.#end = undefined
  }

  /** A check of the work begins, or has ended. */
  checks(name: string | undefined): void {
    this.#check = name === undefined ? undefined : { kind: 'check', name, since: this.#clock.monotonic() }
  }

  /** What the run is doing now. Undefined before the agent works, after it, and where nobody watches its silence. */
  get doing(): Doing | undefined {
    return this.#check ?? this.#work?.doing()
  }

  /**
   * What runs for this run stands still while the run is held, and what it uses is a sign of work. It is ended by `end` if it turns out meanwhile that the run is not ours
   * any more: nobody would let it go on. Ends with the returned function, which may be called twice.
   */
  accompany(pauser: Pauser, pid: number, end?: () => void): () => void {
    if (!this.#paused.has(pauser)) this.#paused.set(pauser, Promise.resolve())
    this.#pids.set(pauser, pid)
    if (end) this.#ends.set(pauser, end)
    // What begins when the run is lost already would stand still for ever.
    if (this.#held && !isLoss(this.reason)) this.#pause(pauser)
    return () => {
      this.#paused.delete(pauser)
      this.#pids.delete(pauser)
      this.#ends.delete(pauser)
    }
  }

  get isHeld(): boolean {
    return this.#held !== undefined
  }

  /** Nobody can say whether the run is still ours: all that runs for it stands still until somebody can. */
  hold(): void {
    if (this.#held || isLoss(this.reason)) return
    this.#held = Promise.withResolvers()
    this.#work?.hold()
    for (const pauser of this.#paused.keys()) this.#pause(pauser)
  }

  /** The run is still ours. The time in which the agent stood still was not its silence. */
  letGo(): void {
    const held = this.#held
    if (!held) return
    this.#held = undefined
    this.#work?.goOn()
    for (const [pauser, done] of this.#paused)
      this.#paused.set(
        pauser,
        done.then(() => pauser.thaw()).catch(() => undefined),
      )
    held.resolve()
  }

  /** To be awaited before anything is done that only the run's owner may do: resolves when it is known whether that is still us. */
  async untilConfirmed(): Promise<void> {
    await this.#held?.promise
    await Promise.all(this.#paused.values())
  }

  /** The agent said or did something; silence is counted in events, not bytes. */
  sawEvent(event?: AgentEvent): void {
    if (event?.type === 'agent.tool_called') {
      const { callId, tool, input } = event.data
      this.#work?.called({ id: callId, tool, input })
    } else if (event?.type === 'agent.tool_returned') this.#work?.returned(event.data.callId)
    else this.#work?.sign('news', event?.type.replace('agent.', '').replaceAll('_', ' '))
  }

  sign(sign: LifeSign): void {
    this.#work?.sign(sign)
  }

  /** The agent asks its model something; the returned function is to be called when it has its answer. */
  modelCalled(): () => void {
    return this.#work?.modelCalled() ?? (() => undefined)
  }

  stop(reason: StopReason): void {
    const harder =
      reason.kind === 'lease_lost' || (reason.kind === 'cancelled' && reason.now && this.reason?.kind === 'cancelled')
    if (this.reason && !harder) return
    this.reason = reason
    this.#controller.abort()
    if (isLoss(reason) && this.#held) {
      for (const end of this.#ends.values()) end()
      this.#held.resolve()
    }
    this.#end?.()
  }

  /** How long the agent may tidy up. */
  graceMs(configured: number): number {
    // One that stands still tidies up nothing.
    if (this.#held) return 0
    switch (this.reason?.kind) {
      case 'cancelled':
        return this.reason.now ? 0 : configured
      case 'interrupted':
        return Math.min(configured, 5_000)
      case 'timed_out':
      case 'asked':
        return configured
      // Long enough to tell what it has used and said; whatever it asks meanwhile is refused as before.
      case 'denied':
        return Math.min(configured, 3_000)
      default:
        return 0
    }
  }

  close(): void {
    for (const cancel of this.#cancels) cancel()
    this.#work?.stop()
    this.#end = undefined
  }

  #pause(pauser: Pauser): void {
    const pause = async () => {
      if (await pauser.freeze().catch(() => false)) return
      // One that has just ended could not be stopped either, and its end is about to be seen.
      await new Promise((seen) => setTimeout(seen, endSeenWithinMs))
      // Others may start the task at any moment, so this one must not run.
      if (this.#held && this.#paused.has(pauser)) this.stop({ kind: 'lease_lost' })
    }
    this.#paused.set(pauser, this.#paused.get(pauser)!.then(pause))
  }

  #after(ms: number, fn: () => void): void {
    // Node's timers hold 31 bits of milliseconds; a run may be allowed weeks.
    const step = Math.min(ms, 2_000_000_000)
    this.#cancels.push(this.#clock.after(step, () => (ms > step ? this.#after(ms - step, fn) : fn())))
  }
}

const isLoss = (reason: StopReason | undefined) => reason?.kind === 'lease_lost'
