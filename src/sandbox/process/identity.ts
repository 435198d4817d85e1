import { readdirSync, readFileSync, readlinkSync } from 'node:fs'

/** Names a process for ever: a pid alone is given again, and means nothing on another machine. */
export interface ProcessIdentity {
  /** The boot and the pid namespace in which `pid` counts. Empty where the system does not tell. */
  readonly bootId: string
  readonly pid: number
  /** In clock ticks since the boot. 0 where the system does not tell. */
  readonly startTime: number
}

export function processIdentity(pid: number = process.pid): ProcessIdentity {
  if (pid !== process.pid) return { bootId: bootId(), pid, startTime: stat(pid)?.startTime ?? 0 }
  // Who we are does not change, and is asked for every run.
  ourselves ??= { bootId: bootId(), pid, startTime: stat(pid)?.startTime ?? 0 }
  return ourselves
}
let ourselves: ProcessIdentity | undefined

/** Does that process live? Undefined: it cannot be known from here, because it belongs to another boot, machine or container. */
export function isAlive(identity: ProcessIdentity): boolean | undefined {
  const here = bootId()
  if (here === '' && identity.bootId === '') return exists(identity.pid)
  if (here !== identity.bootId) return undefined
  const found = stat(identity.pid)
  return found !== undefined && found.startTime === identity.startTime && !/[ZXx]/.test(found.state)
}

/** Is that process waiting for something, rather than running or gone? */
export const isWaiting = (pid: number) => stat(pid)?.state === 'S'

/** The direct children of a process. Empty where the system does not tell. */
export function childrenOf(pid: number): number[] {
  const listed = orUndefined(() => readFileSync(`/proc/${pid}/task/${pid}/children`, 'latin1'))
  if (listed !== undefined) return listed.split(' ').filter(Boolean).map(Number)
  // Kernels built without that list, or a process that is gone.
  const pids = orUndefined(() => readdirSync('/proc')) ?? []
  return pids.filter((name) => /^\d+$/.test(name) && stat(Number(name))?.parent === pid).map(Number)
}

/** Every living process below this one, whatever namespace it is in. What loses its parent inside walls becomes a child of their first process, so nothing is missed there. */
export function descendantsOf(pid: number): number[] {
  const below: number[] = []
  for (let parents = [pid]; parents.length > 0; ) {
    const listed = parents.map(listedChildren)
    if (listed.includes(undefined)) return descendantsAmongAll(pid)
    parents = listed.flatMap((children) => children ?? []).filter((child) => isLiving(child))
    below.push(...parents)
  }
  return below
}

/**
 * Every process that is listed as a child on the way down from this one, also what has ended by then: who looks for what starts others and ends sees by that that it has
 * missed something. Undefined if the kernel was built without such lists.
 */
export function listedBelow(pid: number): number[] | undefined {
  const below: number[] = []
  for (let parents = [pid]; parents.length > 0; ) {
    const listed = parents.map(listedChildren)
    if (listed.includes(undefined)) return undefined
    parents = listed.flatMap((children) => children ?? [])
    below.push(...parents)
  }
  return below
}

/** A process whose first thread has ended looks like a zombie while its other threads go on. */
const isLiving = (pid: number, found = stat(pid)) =>
  found !== undefined && (!isOver(found.state) || livingThreadsOf(pid).length > 0)

const isOver = (state = 'X') => state === '' || /[ZXx]/.test(state)

/** Empty if the process is gone. */
export const threadsOf = (pid: number): number[] => (orUndefined(() => readdirSync(`/proc/${pid}/task`)) ?? []).map(Number)

/** The first one stays in the list when it has ended. */
export const livingThreadsOf = (pid: number): number[] =>
  threadsOf(pid).filter((thread) => !isOver(statAt(`/proc/${pid}/task/${thread}/stat`)?.state))

/** Those of all its threads: any of them may start a program. Undefined if the kernel was built without such lists. */
function listedChildren(pid: number): number[] | undefined {
  const lists = threadsOf(pid).map((thread) => orUndefined(() => readFileSync(`/proc/${pid}/task/${thread}/children`, 'latin1')))
  if (lists.length > 0 && lists.every((list) => list === undefined)) return isLiving(pid) ? undefined : []
  return lists.flatMap((list = '') => list.split(' ').filter(Boolean).map(Number))
}

/** The same from the parents of all processes there are, of which a machine may have thousands. */
function descendantsAmongAll(pid: number): number[] {
  const parents = new Map<number, number>()
  for (const name of orUndefined(() => readdirSync('/proc')) ?? []) {
    if (!/^\d+$/.test(name)) continue
    const found = stat(Number(name))
    if (found && isLiving(Number(name), found)) parents.set(Number(name), found.parent)
  }
  const below = new Set<number>([pid])
  // A parent may have a larger number than its child, so it is gone through until nothing is added.
  for (let size = 0; size !== below.size; ) {
    size = below.size
    for (const [child, parent] of parents) if (below.has(parent)) below.add(child)
  }
  below.delete(pid)
  return [...below]
}

let knownBootId: string | undefined
function bootId(): string {
  knownBootId ??= orUndefined(() => {
    // Containers share the boot id of their host but not its pids.
    const namespace = readlinkSync('/proc/self/ns/pid').replace(/\D/g, '')
    return `${readFileSync('/proc/sys/kernel/random/boot_id', 'latin1').trim()}.${namespace}`
  })
  return knownBootId ?? ''
}

const stat = (pid: number) => statAt(`/proc/${pid}/stat`)

function statAt(file: string): { state: string; parent: number; startTime: number } | undefined {
  const text = orUndefined(() => readFileSync(file, 'latin1'))
  if (text === undefined) return undefined
  // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', parent: Number(fields[1]), startTime: Number(fields[19]) }
}

function exists(pid: number): boolean {
  try {
    return process.kill(pid, 0)
  } catch (error) {
    return (error as NodeJS.ErrnoException).code === 'EPERM'
  }
}

function orUndefined<T>(read: () => T): T | undefined {
  try {
    return read()
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES'].includes((error as NodeJS.ErrnoException).code ?? '')) return undefined
    throw error
  }
}
