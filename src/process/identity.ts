import { readFileSync, readlinkSync } from 'node:fs'

/** Names a process for ever: a pid alone is given again, and means nothing on another machine. */
export interface ProcessIdentity {
  /** The boot and the pid namespace in which `pid` counts. Empty where the system does not tell. */
  readonly bootId: string
  readonly pid: number
  /** In clock ticks since the boot. 0 where the system does not tell. */
  readonly startTime: number
}

export function processIdentity(pid: number = process.pid): ProcessIdentity {
  return { bootId: bootId(), pid, startTime: stat(pid)?.startTime ?? 0 }
}

/** Does that process live? Undefined: it cannot be known from here, because it belongs to another boot, machine or container. */
export function isAlive(identity: ProcessIdentity): boolean | undefined {
  const here = bootId()
  if (here === '' && identity.bootId === '') return exists(identity.pid)
  if (here !== identity.bootId) return undefined
  const found = stat(identity.pid)
  return found !== undefined && found.startTime === identity.startTime && !/[ZXx]/.test(found.state)
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

function stat(pid: number): { state: string; startTime: number } | undefined {
  const text = orUndefined(() => readFileSync(`/proc/${pid}/stat`, 'latin1'))
  if (text === undefined) return undefined
  // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
  const fields = text.slice(text.lastIndexOf(')') + 2).split(' ')
  return { state: fields[0] ?? '', startTime: Number(fields[19]) }
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
