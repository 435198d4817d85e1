import { readFileSync } from 'node:fs'
import { descendantsOf } from './identity.ts'

/** What a tree of processes has used since it began. */
export interface Use {
  readonly cpuMs: number
  /** Read from and written to disks. */
  readonly diskBytes: number
  /** Read and written in any way, pipes and sockets included. */
  readonly bytes: number
}

/** Ticks of the kernel's clock in which it tells times; the same on every architecture that Node runs on. */
const tickMs = 10

/**
 * Adds up what a process and all below it have used, whatever namespace they are in. What has ended and was waited for counts in its parent. Undefined where the system
 * does not tell; a few short reads for each process otherwise.
 */
export function useOf(pid: number): Use | undefined {
  let [cpuMs, diskBytes, bytes] = [0, 0, 0]
  let isTold = false
  for (const one of [pid, ...descendantsOf(pid)]) {
    const stat = orEmpty(`/proc/${one}/stat`)
    if (stat === '') continue
    isTold = true
    // The second field is the program's name in parentheses, and may itself hold spaces and parentheses.
    const fields = stat.slice(stat.lastIndexOf(')') + 2).split(' ')
    for (const ticks of fields.slice(11, 15)) cpuMs += Number(ticks) * tickMs
    for (const line of orEmpty(`/proc/${one}/io`).split('\n')) {
      const [name, count = '0'] = line.split(': ')
      if (name === 'read_bytes' || name === 'write_bytes') diskBytes += Number(count)
      else if (name === 'rchar' || name === 'wchar') bytes += Number(count)
    }
  }
  return isTold ? { cpuMs, diskBytes, bytes } : undefined
}

/** Adds what several trees have used. Undefined if none of them tells. */
export function sumOf(uses: readonly (Use | undefined)[]): Use | undefined {
  const told = uses.filter((use) => use !== undefined)
  if (told.length === 0) return undefined
  const sum = (of: keyof Use) => told.reduce((total, use) => total + use[of], 0)
  return { cpuMs: sum('cpuMs'), diskBytes: sum('diskBytes'), bytes: sum('bytes') }
}

/** Empty for a process that is gone, or that belongs to somebody else. */
function orEmpty(path: string): string {
  try {
    return readFileSync(path, 'latin1')
  } catch (error) {
    if (['ENOENT', 'ESRCH', 'EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return ''
    throw error
  }
}
