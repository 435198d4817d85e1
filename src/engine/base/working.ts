import type { LifeSign } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import type { Activity } from '../../domain/view/activity.ts'
import type { Use } from '../../sandbox/process/use.ts'

/**
 * Decides whether a run, or a check, is still working. Everything that Pawl knows about silence is in this file: what counts as a sign of work, for how long each sign
 * counts, and when somebody has to be asked. `judgeWork` is the rule; `WorkWatch` collects the signs and applies it.
 */

export interface OpenCall {
  readonly id: string
  readonly tool: string
  readonly input: unknown
  readonly since: number
}

/** All times are of the monotonic clock. */
export interface Signs {
  readonly newsAt: number
  /** When a call last said that it goes on. */
  readonly progressAt?: number | undefined
  /** When the program last used the CPU, read or wrote, or sent a heartbeat. */
  readonly activeAt?: number | undefined
  readonly calls: readonly OpenCall[]
}

export interface WorkLimits {
  /** How long nothing at all may happen. */
  readonly idleMs: number
  /** How long a program may be silent while it uses the CPU, reads or writes. */
  readonly busyMs: number
  /** How long one tool call may be open. */
  readonly callMs: number
}

export type Work =
  /** Look again at `until`: nothing can be decided before. */
  | { readonly kind: 'working'; readonly until: number }
  | { readonly kind: 'stalled' }
  /** A person has to say whether it may go on. */
  | { readonly kind: 'overlong'; readonly call: OpenCall }

const usualBusyMs = 30 * 60_000
const usualCallMs = 4 * 60 * 60_000

/** Whoever allows more silence than that allows it of busy programs and of open calls, too. */
export const workLimits = (idleMs: number): WorkLimits => ({
  idleMs,
  busyMs: Math.max(usualBusyMs, idleMs),
  callMs: Math.max(usualCallMs, idleMs),
})

/** Says whether it is still working: an open call for hours, a busy program for half an hour, silence for minutes. */
export function judgeWork(now: number, signs: Signs, limits: WorkLimits): Work {
  const { newsAt, progressAt, activeAt, calls } = signs
  const { idleMs, busyMs, callMs } = limits
  const newest = calls.reduce<OpenCall | undefined>((last, call) => (last && last.since >= call.since ? last : call), undefined)
  const until = Math.max(
    newsAt + idleMs,
    newest ? newest.since + callMs : 0,
    progressAt === undefined ? 0 : Math.min(progressAt + idleMs, newsAt + callMs),
    activeAt === undefined ? 0 : Math.min(activeAt + idleMs, newsAt + busyMs),
  )
  if (until > now) return { kind: 'working', until }
  return newest ? { kind: 'overlong', call: newest } : { kind: 'stalled' }
}

/**
 * Below these rates it is a timer that looks whether there is anything to do. Measured: four real agent programs that wait for a model which never
 * answers use at most 1.2 % of a CPU, 17 KB/s through pipes and sockets, and no disk.
 */
const leastCpuShare = 0.03
const leastDiskBytesPerSecond = 16 * 1024
/** Includes pipes, sockets and the page cache; every start of a program reads some kilobytes there. */
const leastBytesPerSecond = 64 * 1024
/** The kernel counts CPU time in steps of 10 ms. */
const leastCpuMs = 20

/** Says whether a program has worked between two samples of what it has used. */
export function isBusy(before: Use, after: Use, tookMs: number): boolean {
  if (tookMs <= 0) return false
  const cpuMs = after.cpuMs - before.cpuMs
  const perSecond = (bytes: number) => (bytes * 1_000) / tookMs
  return (
    cpuMs >= Math.max(tookMs * leastCpuShare, leastCpuMs) ||
    perSecond(after.diskBytes - before.diskBytes) >= leastDiskBytesPerSecond ||
    perSecond(after.bytes - before.bytes) >= leastBytesPerSecond
  )
}

/** What a running task is doing, and since when. Times are of the monotonic clock. */
export interface Doing {
  readonly kind: Activity['kind']
  readonly name?: string | undefined
  readonly since: number
}

/** What the runs of this process are doing, by task. Asked for by whoever shows a task; nothing of it is stored. */
export type Doings = Map<string, () => Doing | undefined>

const longestSampleMs = 15_000
/** A timer that comes this late means that this process stood still, and so much time it gets to read what came meanwhile. */
const lateMs = 3_000
const excuseMs = 5_000
/** News that is younger is no silence that anybody would want to know of. */
const recentMs = 10_000

export interface WorkWatchOptions {
  readonly clock: Clock
  readonly limits: WorkLimits
  /** What everything that runs for this has used so far; undefined where the system does not tell. */
  readonly use: () => Use | undefined
  /** Called once. */
  readonly onStall: (seen: string) => void
  /** Called again after another stretch of `idleMs` if nothing has happened until then. */
  readonly onOverlong: (call: OpenCall, now: number) => void
}

/** Watches one turn of an agent, or one check. Does nothing before `start`. */
export class WorkWatch {
  readonly #options: WorkWatchOptions
  #newsAt: number
  #newsOf = 'its start'
  #progressAt: number | undefined
  #activeAt: number | undefined
  #busyAt: number | undefined
  #askedAt: number | undefined
  #heldAt: number | undefined
  #dueAt = 0
  /** The news after which a late look was forgiven. */
  #excused: number | undefined
  readonly #calls = new Map<string, OpenCall>()
  #modelCalls = 0
  #modelSince = 0
  #sample: { readonly at: number; readonly use: Use } | undefined
  #cancel: (() => void) | undefined
  #isOn = false

  constructor(options: WorkWatchOptions) {
    this.#options = options
    this.#newsAt = this.#dueAt = options.clock.monotonic()
  }

  start(): void {
    this.#isOn = true
    this.#newsAt = this.#options.clock.monotonic()
    this.#look()
  }

  stop(): void {
    this.#isOn = false
    this.#cancel?.()
    this.#cancel = undefined
    this.#calls.clear()
    this.#modelCalls = 0
  }

  sign(sign: LifeSign, what?: string): void {
    const now = this.#options.clock.monotonic()
    if (sign === 'call') this.#progressAt = now
    else if (sign === 'heartbeat') this.#activeAt = now
    else {
      this.#newsAt = now
      // It is awake: what it used while it said nothing belongs to a silence that is over.
      this.#sample = undefined
      this.#askedAt = undefined
      if (what !== undefined) this.#newsOf = what
    }
  }

  called(call: Omit<OpenCall, 'since'>): void {
    this.#calls.set(call.id, { ...call, since: this.#options.clock.monotonic() })
    this.sign('news', `a call of ${call.tool}`)
  }

  returned(id: string): void {
    const call = this.#calls.get(id)
    this.#calls.delete(id)
    this.sign('news', call ? `the return of ${call.tool}` : 'the return of a tool')
    // The next look may be hours away, because of the call.
    if (call && this.#isOn) this.#look()
  }

  /** A call of a model goes out; the returned function is to be called when it has ended. Waiting for one is no work, but people want to know. */
  modelCalled(): () => void {
    this.sign('news', 'a call of the model')
    if (this.#modelCalls++ === 0) this.#modelSince = this.#newsAt
    let isOver = false
    return () => {
      if (isOver) return
      isOver = true
      this.#modelCalls = Math.max(0, this.#modelCalls - 1)
      this.sign('news', 'an answer of the model')
    }
  }

  /** The program is kept from working: until `goOn` nothing is judged, and that time is neither its silence nor that of its calls. */
  hold(): void {
    this.#heldAt ??= this.#options.clock.monotonic()
    this.#cancel?.()
  }

  goOn(): void {
    if (this.#heldAt === undefined) return
    const now = this.#options.clock.monotonic()
    const lostMs = now - this.#heldAt
    // What it said before it stood still may have come later.
    const later = (at: number) => Math.min(at + lostMs, now)
    this.#heldAt = undefined
    this.#newsAt = later(this.#newsAt)
    if (this.#progressAt !== undefined) this.#progressAt = later(this.#progressAt)
    if (this.#activeAt !== undefined) this.#activeAt = later(this.#activeAt)
    for (const [id, call] of this.#calls) this.#calls.set(id, { ...call, since: later(call.since) })
    this.#sample = undefined
    this.#look()
  }

  doing(): Doing | undefined {
    if (!this.#isOn) return undefined
    const now = this.#options.clock.monotonic()
    const call = [...this.#calls.values()].at(-1)
    if (call) return { kind: 'tool', name: call.tool, since: call.since }
    if (this.#modelCalls > 0) return { kind: 'model', since: this.#modelSince }
    if (now - this.#newsAt < recentMs) return { kind: 'working', since: this.#newsAt }
    const isBusyNow = this.#busyAt !== undefined && this.#busyAt > this.#newsAt && now - this.#busyAt <= 2 * this.#sampleMs
    return { kind: isBusyNow ? 'busy' : 'silent', since: this.#newsAt }
  }

  get #sampleMs(): number {
    return Math.min(longestSampleMs, this.#options.limits.idleMs / 4)
  }

  #look(): void {
    this.#cancel?.()
    if (!this.#isOn || this.#heldAt !== undefined) return
    const { clock, limits } = this.#options
    const now = clock.monotonic()
    this.#measure(now)
    const work = judgeWork(now, this.#signs, limits)
    // Nobody looked for a while, and what came meanwhile lies unread: that is no silence yet.
    if (work.kind !== 'working' && now - this.#dueAt > lateMs && this.#excused !== this.#newsAt) {
      this.#excused = this.#newsAt
      this.#lookAgain(now + excuseMs, now)
      return
    }
    if (work.kind === 'stalled') {
      const seen = this.#lastSeen(now)
      this.stop()
      this.#options.onStall(seen)
      return
    }
    if (work.kind === 'overlong' && (this.#askedAt === undefined || now - this.#askedAt >= limits.idleMs)) {
      this.#askedAt = now
      this.#options.onOverlong(work.call, now)
    }
    this.#lookAgain(work.kind === 'working' ? work.until : now + limits.idleMs, now)
  }

  /** Only a silent program without an open call is measured: of any other it is known that it works. */
  #measure(now: number): void {
    const isSilent = now - this.#newsAt >= this.#sampleMs
    if (!isSilent || this.#calls.size > 0) {
      this.#sample = undefined
      return
    }
    const use = this.#options.use()
    if (use && this.#sample && isBusy(this.#sample.use, use, now - this.#sample.at)) this.#activeAt = this.#busyAt = now
    this.#sample = use && { at: now, use }
  }

  #lookAgain(until: number, now: number): void {
    const { clock } = this.#options
    const wanted = this.#calls.size > 0 ? until - now : Math.min(until - now, this.#sampleMs)
    // Node's timers hold 31 bits of milliseconds, and a silence of weeks may be allowed.
    const ms = Math.min(Math.max(wanted, 1), 2_000_000_000)
    this.#dueAt = now + ms
    this.#cancel = clock.after(ms, () => this.#look())
  }

  get #signs(): Signs {
    return { newsAt: this.#newsAt, progressAt: this.#progressAt, activeAt: this.#activeAt, calls: [...this.#calls.values()] }
  }

  #lastSeen(now: number): string {
    const { limits } = this.#options
    const busy =
      this.#busyAt !== undefined && this.#busyAt > this.#newsAt
        ? ` It used the CPU or did I/O until ${lengthOf(now - this.#busyAt)} ago; that counts as work for ${lengthOf(limits.busyMs)}.`
        : ''
    const model = this.#modelCalls > 0 ? ` It was waiting for its model for ${lengthOf(now - this.#modelSince)}.` : ''
    return `nothing for ${lengthOf(now - this.#newsAt)}. Last seen: ${this.#newsOf}; no tool call was open.${model}${busy}`
  }
}

/** A length of time in one or two units: 45 s, 5 min, 1 h 30 min. */
export function lengthOf(ms: number): string {
  if (ms < 60_000) return `${Math.round(ms / 100) / 10} s`
  const minutes = Math.round(ms / 60_000)
  if (minutes < 60) return `${minutes} min`
  return minutes % 60 === 0 ? `${minutes / 60} h` : `${Math.floor(minutes / 60)} h ${minutes % 60} min`
}
