import {
  accessSync,
  constants,
  existsSync,
  mkdirSync,
  readdirSync,
  readFileSync,
  rmdirSync,
  statSync,
  writeFileSync,
} from 'node:fs'
import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { WallLimits } from '../port.ts'

/** The kernel's own account of one tree of processes, and its limits. */
export interface TreeAccount {
  add(pid: number): void
  /** Has the kernel ended something in it for want of memory? */
  ranOutOfMemory(): boolean
  /** Ends the account; whatever is still in it is killed first. May be called twice. */
  close(): void
}

/** A group of processes that the kernel stops and lets go on as one: what it stops no signal wakes but SIGKILL. */
export interface FreezeGroup {
  /** Takes the kernel some milliseconds, so another thread waits for it. */
  add(pid: number): Promise<void>
  /** All threads in it. What one of them starts is in it from the first moment. */
  threads(): number[]
  freeze(): void
  isFrozen(): boolean
  thaw(): void
  /** May be called twice; to be called when nothing of it lives any more. */
  close(): void
}

const prefix = 'pawl-'

const folderFor = (parent: string, name: string) => join(parent, `${prefix}${name.replaceAll(/[^\w.-]/g, '_')}`)

/**
 * Opens an account below `parent`, the control group that was handed to us (`ownGroup`). Undefined where the kernel refuses: then the
 * limits are held in other ways, and the run says so.
 */
export function openTreeAccount(parent: string, name: string, limits: WallLimits): TreeAccount | undefined {
  const folder = folderFor(parent, name)
  const write = (file: string, value: string | number) => writeFileSync(join(folder, file), String(value))
  try {
    mkdirSync(folder, { recursive: true })
    write('pids.max', limits.processes)
    if (limits.memoryBytes !== undefined) {
      write('memory.max', limits.memoryBytes)
      // Not everywhere compiled in. All or nothing: an agent that lost a part of itself goes on in ways nobody meant.
      for (const [file, value] of [
        ['memory.swap.max', 0],
        ['memory.oom.group', 1],
      ] as const)
        if (existsSync(join(folder, file))) write(file, value)
    }
  } catch (error) {
    if (!isRefusal(error)) throw error
    remove(folder)
    return undefined
  }
  return {
    add: (pid) => write('cgroup.procs', pid),
    ranOutOfMemory: () => /^oom_kill [1-9]/m.test(orEmpty(join(folder, 'memory.events'))),
    close() {
      if (existsSync(join(folder, 'cgroup.kill'))) write('cgroup.kill', 1)
      remove(folder)
    },
  }
}

/**
 * Opens a group to freeze below `parent` (`freezableGroup`): the same as the account of that name, if there is one. Undefined where the kernel refuses, as
 * one before 5.2 does.
 */
export function openFreezeGroup(parent: string, name: string): FreezeGroup | undefined {
  const folder = folderFor(parent, name)
  const write = (file: string, value: string | number) => writeFileSync(join(folder, file), String(value))
  for (const one of unremoved) if (remove(one)) unremoved.delete(one)
  try {
    mkdirSync(folder, { recursive: true })
  } catch (error) {
    if (!isRefusal(error)) throw error
    return undefined
  }
  if (!existsSync(join(folder, 'cgroup.freeze'))) {
    remove(folder)
    return undefined
  }
  return {
    add: (pid) => writeFile(join(folder, 'cgroup.procs'), String(pid)),
    threads: () => orEmpty(join(folder, 'cgroup.threads')).split('\n').filter(Boolean).map(Number),
    freeze: () => write('cgroup.freeze', 1),
    isFrozen: () => /^frozen 1$/m.test(orEmpty(join(folder, 'cgroup.events'))),
    thaw: () => write('cgroup.freeze', 0),
    close() {
      if (!remove(folder)) unremoved.add(folder)
    },
  }
}

/** Those whose last process was still on its way out. */
const unremoved = new Set<string>()

let freezable: { readonly group: string | undefined } | undefined

/** The control group of version 2 below which we may make groups to freeze. That takes no controllers, so also one that is not ours to divide will do. Looked for once. */
export function freezableGroup(): string | undefined {
  freezable ??= { group: ownGroup() ?? writableGroup() }
  return freezable.group
}

function writableGroup(): string | undefined {
  const group = groupOfOurs()
  if (group === undefined || !mayWrite(group)) return undefined
  removeLeft(group)
  return group
}

let known: { readonly group: string | undefined } | undefined

/** The control group below which we may open accounts, of version 2; undefined if none was handed to us. Looked for once, and to be called before there is an agent. */
export function ownGroup(): string | undefined {
  known ??= { group: findGroup() }
  return known.group
}

function findGroup(): string | undefined {
  const group = groupOfOurs()
  return group === undefined ? undefined : prepareGroup(group)
}

/** The folder of the control group of version 2 that this process is in. */
function groupOfOurs(): string | undefined {
  const mounted = orEmpty('/proc/self/mountinfo')
    .split('\n')
    .map((line) => line.split(' '))
    .find((fields) => fields[fields.indexOf('-') + 1] === 'cgroup2')
  const path = /^0::(\/.*)$/m.exec(orEmpty('/proc/self/cgroup'))?.[1]
  const point = mounted?.[4]
  return point === undefined || path === undefined || path.startsWith('/..') ? undefined : join(point, path)
}

/** Makes ready the group that this process is in, if it is ours to divide. */
export function prepareGroup(group: string, self = process.pid): string | undefined {
  const list = (file: string) => orEmpty(join(group, file)).split(/\s+/).filter(Boolean)
  const has = (file: string) => ['memory', 'pids'].every((controller) => list(file).includes(controller))
  if (!has('cgroup.controllers') || !mayWrite(group)) return undefined
  try {
    if (!has('cgroup.subtree_control')) {
      // A group that is divided holds no processes itself, so all go down a step: we, and in a service also what we started. Others are
      // not ours to move, and neither is a session in which somebody is logged in.
      const members = list('cgroup.procs').map(Number)
      const isOurs = (pid: number) => pid === self || (!group.endsWith('.scope') && ownerOf(pid) === process.getuid?.())
      if (!members.every(isOurs)) return undefined
      const down = join(group, `${prefix}supervisor`)
      mkdirSync(down, { recursive: true })
      for (const pid of members) writeFileSync(join(down, 'cgroup.procs'), String(pid))
      writeFileSync(join(group, 'cgroup.subtree_control'), '+memory +pids')
    }
    removeLeft(group)
    return group
  } catch (error) {
    if (!isRefusal(error)) throw error
    return undefined
  }
}

/** What a killed Pawl left; one with processes in it cannot be removed. */
function removeLeft(group: string): void {
  for (const name of readdirSync(group)) if (name.startsWith(prefix)) remove(join(group, name))
}

const ownerOf = (pid: number) => statSync(`/proc/${pid}`, { throwIfNoEntry: false })?.uid

function mayWrite(group: string): boolean {
  try {
    for (const file of ['', 'cgroup.procs', 'cgroup.subtree_control']) accessSync(join(group, file), constants.W_OK)
    return true
  } catch (error) {
    if (!isRefusal(error)) throw error
    return false
  }
}

/** False: what was just killed is still on its way out; it is removed when we look for our group the next time. */
function remove(folder: string): boolean {
  try {
    rmdirSync(folder)
    return true
  } catch (error) {
    if (!isRefusal(error)) throw error
    return !existsSync(folder)
  }
}

function orEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (!isRefusal(error)) throw error
    return ''
  }
}

/** All that a kernel says to whoever may not, or asks for what is not there. */
const isRefusal = (error: unknown) =>
  [
    'ENOENT',
    'EACCES',
    'EPERM',
    'EROFS',
    'EBUSY',
    'ENOTEMPTY',
    'EINVAL',
    'EOPNOTSUPP',
    'ENODEV',
    'ESRCH',
    'EAGAIN',
    'ENOTDIR',
  ].includes((error as NodeJS.ErrnoException).code ?? '')
