import { execFileSync } from 'node:child_process'
import { readFileSync, readlinkSync } from 'node:fs'
import { z } from 'zod'

/** Names one process for good: a pid alone is given out again. */
export const processMark = z.object({
  pid: z.number().int().positive(),
  /** Start time as the system tells it. */
  started: z.string(),
  boot: z.string(),
  /** The pid namespace: a pid of another container says nothing here. */
  space: z.string(),
})
export type ProcessMark = z.infer<typeof processMark>

let own: ProcessMark | undefined

export function ownProcess(): ProcessMark {
  own ??= { pid: process.pid, started: startOf(process.pid) ?? '', boot: bootId(), space: pidSpace() }
  return own
}

/** True only when it is proved: a process of another living container on this machine counts as there. */
export function isGone(mark: ProcessMark): boolean {
  if (mark.boot !== bootId()) return true
  if (mark.space !== pidSpace()) return false
  return startOf(mark.pid) !== mark.started
}

/** The command line of a living process; undefined when there is none. A zombie has none. */
export function commandOf(pid: number): string | undefined {
  if (process.platform === 'linux') return read(`/proc/${pid}/cmdline`)?.replaceAll('\0', ' ').trim() || undefined
  return ps(pid, 'command')
}

function startOf(pid: number): string | undefined {
  if (process.platform !== 'linux') return ps(pid, 'lstart')
  // The name in brackets may hold spaces and brackets itself: fields are counted after the last one.
  const fields = read(`/proc/${pid}/stat`)
    ?.replace(/^.*\) /s, '')
    .split(' ')
  return fields === undefined || fields[0] === 'Z' ? undefined : fields[19]
}

function ps(pid: number, column: string): string | undefined {
  try {
    return execFileSync('/bin/ps', ['-o', `${column}=`, '-p', String(pid)], { encoding: 'utf8', env: { LC_ALL: 'C' } }).trim()
  } catch (error) {
    // ps answers "no such process" with status 1.
    if (error instanceof Error && 'status' in error && error.status === 1) return undefined
    throw error
  }
}

// macOS offers neither; start times to the second are what is left there.
const bootId = () => read('/proc/sys/kernel/random/boot_id')?.trim() ?? ''
const pidSpace = () => (process.platform === 'linux' ? readlinkSync('/proc/self/ns/pid') : '')

function read(path: string): string | undefined {
  try {
    return readFileSync(path, 'utf8')
  } catch (error) {
    if (error instanceof Error && 'code' in error && ['ENOENT', 'ESRCH', 'ENOTDIR'].includes(String(error.code))) return undefined
    throw error
  }
}
