import { createHash } from 'node:crypto'
import { readFileSync } from 'node:fs'
import { type Clock, sleep } from '../../base/clock.ts'
import type { Freezer } from '../port.ts'
import {
  descendantsOf,
  isAlive,
  isWaiting,
  listedBelow,
  livingThreadsOf,
  type ProcessIdentity,
  processIdentity,
  threadsOf,
} from '../process/identity.ts'
import { signal } from '../process/tree.ts'
import { type FreezeGroup, openFreezeGroup } from './cgroup.ts'

/** A process that waits for a slow disk stops when the disk has answered. */
const frozenWithinMs = 2_000
const looksBeforeRetry = 20
/** What was due while a program was frozen it does as soon as it is let go on. */
const awakeWithinMs = 50

export interface Frozen {
  /** The first process of the sandbox's own pid namespace: below it is all that lives inside. */
  readonly first: ProcessIdentity
  /** The control group below which we may make one to freeze, if there is one. */
  readonly group: string | undefined
  readonly name: string
  readonly clock: Clock
}

/**
 * Stops all that lives in a sandbox: by a control group, where one can be had, and by SIGSTOP otherwise. Never by the freezer of cgroup version 1, in which a process
 * does not even obey SIGKILL.
 */
export function createFreezer({ first, group, name, clock }: Frozen): Freezer & { close(): void } {
  const covered = mountsOf(first.pid)
  let frozen: FreezeGroup | undefined
  let isStopped = false

  async function freezeGroup(): Promise<boolean> {
    frozen ??= group === undefined ? undefined : openFreezeGroup(group, name)
    if (!frozen) return false
    try {
      frozen.freeze()
      if (await untilHeld(first, byGroup(frozen), clock)) return true
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
    thawGroup()
    frozen.close()
    frozen = undefined
    return false
  }

  function thawGroup(): void {
    try {
      frozen?.thaw()
    } catch (error) {
      if (!isRefusal(error)) throw error
    }
  }

  return {
    async freeze() {
      if (await freezeGroup()) return true
      isStopped = true
      return untilHeld(first, bySignals, clock)
    },
    async thaw() {
      thawGroup()
      if (isStopped) wake(processesOf(first) ?? [])
      isStopped = false
      const deadline = clock.monotonic() + awakeWithinMs
      for (let quiet = 0; clock.monotonic() < deadline; await sleep(clock, 1)) {
        quiet = isQuiet() ? quiet + 1 : 0
        if (quiet === 2) return
      }
    },
    isCovered: () => covered !== undefined && isAlive(first) === true && mountsOf(first.pid) === covered,
    close: () => frozen?.close(),
  }

  function isQuiet(): boolean {
    return descendantsOf(first.pid).every((pid) => livingThreadsOf(pid).every(isWaiting))
  }
}

/** One of the two ways to hold processes. */
interface Way {
  /** For each of them what changes when it has run since, or has ended; undefined for one that is not held. */
  marks(all: readonly ProcessIdentity[]): (string | undefined)[]
  hold(one: ProcessIdentity): void | Promise<void>
  /** Lets go what could not be held for a while: one may wait for another in a way that no signal ends, as whoever starts a program does (vfork). */
  retry?(all: readonly ProcessIdentity[]): void
  /** Asked between two looks: can nothing wake them? */
  isSure?(all: readonly ProcessIdentity[]): boolean
}

/**
 * Holds all below the first process, again and again, because what is not held yet may start others. Done when two looks find the same, all of it held: what started
 * another and ended while we looked is listed in one of them as gone, or as one more.
 */
async function untilHeld(first: ProcessIdentity, way: Way, clock: Clock): Promise<boolean> {
  const deadline = clock.monotonic() + frozenWithinMs
  let before: string | undefined
  for (let looks = 1; clock.monotonic() < deadline; await sleep(clock, 1), looks++) {
    const all = processesOf(first)
    if (!all || isAlive(first) !== true) return false
    if (looks % looksBeforeRetry === 0) {
      way.retry?.(all)
      continue
    }
    const marks = way.marks(all)
    for (const [index, one] of all.entries()) if (marks[index] === undefined) await way.hold(one)
    const mark = marks.includes(undefined) ? undefined : marks.join('\n')
    if (mark !== undefined && mark === before) return true
    if (mark !== undefined && way.isSure?.(all) === false) return false
    before = mark
  }
  return false
}

const processesOf = (first: ProcessIdentity) => {
  const below = listedBelow(first.pid)
  return below && [first, ...below.map((pid) => processIdentity(pid))]
}

const byGroup = (group: FreezeGroup): Way => ({
  marks(all) {
    // Asked before who is in it: what a frozen process of it has started was in it from the first moment.
    if (!group.isFrozen()) return all.map(() => undefined)
    const held = new Set(group.threads())
    return all.map(({ pid, startTime }) => {
      const threads = livingThreadsOf(pid)
      return threads.every((thread) => held.has(thread)) ? `${pid} ${startTime} ${threads}` : undefined
    })
  },
  hold: (one) => (isSame(one) ? group.add(one.pid) : undefined),
})

const bySignals: Way = {
  marks: (all) => all.map(stoppedMark),
  hold(one) {
    if (!isSame(one)) return
    signal(one.pid, 'SIGSTOP')
    // Its number may be given to somebody else at any moment; who got it by mistake is put back.
    if (!isSame(one)) signal(one.pid, 'SIGCONT')
  },
  retry: wake,
  isSure: (all) => all.every(({ pid }) => livingThreadsOf(pid).length === 0 || staysStopped(pid)),
}

function wake(all: readonly ProcessIdentity[]): void {
  for (const one of all) if (isSame(one)) signal(one.pid, 'SIGCONT')
}

const isSame = ({ pid, startTime }: ProcessIdentity) => processIdentity(pid).startTime === startTime

/** Differs whenever one of its threads has run. Undefined while one of them may. */
function stoppedMark({ pid, startTime }: ProcessIdentity): string | undefined {
  const marks = threadsOf(pid).map((thread) => {
    const text = orEmpty(`/proc/${pid}/task/${thread}/status`)
    // A thread that has ended stays in the list for as long as it is the first one.
    if (!/^State:\s+[TZX]/m.test(text)) return undefined
    return `${thread} ${/^voluntary_ctxt_switches:.*\nnonvoluntary_ctxt_switches:.*$/m.exec(text)?.[0]}`
  })
  return marks.length === 0 || marks.includes(undefined) ? undefined : `${pid} ${startTime} ${marks.join(' ')}`
}

/**
 * A timer of its own may send a process any signal, and SIGCONT wakes whatever is stopped. All other ways to be sent one by the kernel are refused by the filter of system
 * calls, or need somebody who is not stopped. Where the kernel does not tell of timers nobody can know.
 */
function staysStopped(pid: number): boolean {
  try {
    const timers = readFileSync(`/proc/${pid}/timers`, 'latin1').split('\n')
    return !timers.some((line) => line.startsWith(`signal: ${sigcont}/`))
  } catch (error) {
    if (!isRefusal(error)) throw error
    return false
  }
}

const sigcont = 18

/** What is mounted where, as a process sees it. What lies at the other end of a mount may be renamed or removed, and stays what it is. */
function mountsOf(pid: number): string | undefined {
  const text = orEmpty(`/proc/${pid}/mountinfo`)
  if (text === '') return undefined
  const hash = createHash('sha256')
  for (const line of text.split('\n')) {
    const [id, parent, device, , path, options] = line.split(' ')
    hash.update(`${id} ${parent} ${device} ${path} ${options}\n`)
  }
  return hash.digest('hex')
}

function orEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return ''
  }
}

const isRefusal = (error: unknown) =>
  ['ENOENT', 'ESRCH', 'EACCES', 'EPERM', 'EBUSY', 'EINVAL', 'EOPNOTSUPP', 'ENODEV', 'EROFS'].includes(
    (error as NodeJS.ErrnoException).code ?? '',
  )
