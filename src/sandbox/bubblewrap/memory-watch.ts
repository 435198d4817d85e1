import { readdirSync, readFileSync, statfsSync } from 'node:fs'
import type { Clock } from '../../base/clock.ts'

/** Looks at the memory of whole process trees, where the kernel keeps no account of them for us. */
export interface MemoryWatch {
  /** Calls `onOver` once when the tree below `pid` has more than `bytes`. The returned function ends the watching and may be called twice. */
  add(tree: WatchedTree, onOver: () => void): () => void
}
export interface WatchedTree {
  readonly pid: number
  readonly bytes: number
  /** File systems in memory that only this tree has: what lies in them is taken from everybody. */
  readonly rooms?: readonly string[]
}

/** A program can fill a gigabyte between two looks on a fast machine; looking more often would cost more than it saves. */
const everyMs = 250

/** A number that was somebody else's process may be given again, to one of ours; after so many looks all are looked at anew. */
const forgetAfterLooks = 20

/** All trees are looked at together: one pass over the processes of the machine serves them all. */
export function createMemoryWatch(clock: Clock): MemoryWatch {
  const strangers = new Set<number>()
  let looks = 0
  const trees = new Map<symbol, WatchedTree & { readonly onOver: () => void }>()
  let cancel: (() => void) | undefined

  function look(): void {
    cancel = undefined
    if (looks++ % forgetAfterLooks === 0) strangers.clear()
    const processes = readProcesses(strangers)
    const ours = new Set<number>()
    for (const [key, { pid, bytes, rooms = [], onOver }] of trees) {
      const members = below(pid, processes)
      for (const member of members) ours.add(member)
      // What is resident counts shared pages once for each process, so only a tree that is over by that is weighed, page by page.
      const inRooms = sum(rooms.map(usedIn))
      if (sum(members.map((member) => processes.get(member)?.residentBytes ?? 0)) + inRooms <= bytes) continue
      const weights = members.map(weigh)
      // A file in a room that a process has mapped is counted already; which of the shared pages are such files nobody tells.
      if (sum(weights.map(({ all }) => all)) + Math.max(0, inRooms - sum(weights.map(({ shared }) => shared))) <= bytes) continue
      trees.delete(key)
      onOver()
    }
    // Nobody joins a tree later who was not born in it.
    for (const pid of processes.keys()) if (!ours.has(pid)) strangers.add(pid)
    schedule()
  }
  function schedule(): void {
    if (cancel === undefined && trees.size > 0) cancel = clock.after(everyMs, look)
  }

  return {
    add(tree, onOver) {
      const key = Symbol('tree')
      strangers.clear()
      trees.set(key, { ...tree, onOver })
      schedule()
      return () => {
        trees.delete(key)
        if (trees.size > 0) return
        cancel?.()
        cancel = undefined
      }
    },
  }
}

interface Process {
  readonly parent: number
  readonly residentBytes: number
}

const pageBytes = 4096
/** What a file or folder in memory takes of the kernel's own, however empty it is: about this on 64 bits. */
const entryBytes = 1024

function readProcesses(without: ReadonlySet<number>): Map<number, Process> {
  const processes = new Map<number, Process>()
  for (const name of readdirSync('/proc')) {
    if (!/^\d+$/.test(name) || without.has(Number(name))) continue
    const text = orEmpty(`/proc/${name}/stat`)
    if (text === '') continue
    // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
    processes.set(Number(name), { parent: Number(fields[1]), residentBytes: Number(fields[21]) * pageBytes })
  }
  return processes
}

function below(root: number, processes: ReadonlyMap<number, Process>): number[] {
  const children = Map.groupBy(processes.keys(), (pid) => processes.get(pid)?.parent ?? 0)
  const members = [root]
  for (const member of members) members.push(...(children.get(member) ?? []))
  return members
}

/** A process's share of what it has in memory: a page that five have counts a fifth. */
function weigh(pid: number): { readonly all: number; readonly shared: number } {
  const text = orEmpty(`/proc/${pid}/smaps_rollup`)
  const all = /^Pss:\s+(\d+) kB/m.exec(text)?.[1]
  const inFiles = /^Pss_Shmem:\s+(\d+) kB/m.exec(text)?.[1]
  // An old kernel does not tell apart what is shared; then all of it may be.
  if (all !== undefined) return { all: Number(all) * 1024, shared: Number(inFiles ?? all) * 1024 }
  // Not told by this kernel, or not to us.
  const [, resident = 0, shared = 0] = orEmpty(`/proc/${pid}/statm`).split(' ').map(Number)
  return { all: (resident - shared) * pageBytes, shared: 0 }
}

/** Nothing if its tree is gone, or if it is hidden from us. */
function usedIn(room: string): number {
  try {
    const { blocks, bfree, bsize, files, ffree } = statfsSync(room)
    return (blocks - bfree) * bsize + (files - ffree) * entryBytes
  } catch (error) {
    if (isOutOfReach(error)) return 0
    throw error
  }
}

const sum = (values: readonly number[]) => values.reduce((total, value) => total + value, 0)

/** Empty for a process that is gone, or that belongs to somebody else. */
function orEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (isOutOfReach(error)) return ''
    throw error
  }
}

const isOutOfReach = (error: unknown) =>
  ['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')
