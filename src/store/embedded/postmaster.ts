import { closeSync, openSync, readFileSync, readSync, renameSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { sleep, systemClock } from '../../base/clock.ts'
import { PawlError, unavailable } from '../../domain/error.ts'
import type { Layout } from './layout.ts'
import { isCode } from './lock.ts'
import { commandOf } from './process-mark.ts'

/** The living server process of this data directory, by the file it keeps there; undefined when there is none. */
export function livingPostmaster(layout: Layout): number | undefined {
  const pid = recordedPid(layout)
  if (pid === undefined) return undefined
  const command = commandOf(pid)
  return command?.includes('postgres') && command.includes(layout.dataDir) ? pid : undefined
}

/** Its own word for it, in the eighth line, where pg_ctl looks too. */
export function isReady(layout: Layout): boolean {
  return livingPostmaster(layout) !== undefined && pidFile(layout)[7]?.trim() === 'ready'
}

/**
 * After a reboot the pid in the file may belong to some other program, and PostgreSQL would wait for that one forever.
 * Safe to remove: the server's second interlock, the shared memory of the data directory, does not need the file.
 */
export function removeStalePidFile(layout: Layout): void {
  const pid = recordedPid(layout)
  if (pid !== undefined && commandOf(pid) !== undefined && livingPostmaster(layout) === undefined) {
    rmSync(join(layout.dataDir, 'postmaster.pid'), { force: true })
  }
}

/** Ends the server: fast shutdown, and if that hangs an immediate one, which loses nothing committed. */
export async function stopPostmaster(layout: Layout, pid: number): Promise<void> {
  const command = commandOf(pid)
  for (const { signal, waitMs } of [
    { signal: 'SIGINT', waitMs: 20_000 },
    { signal: 'SIGQUIT', waitMs: 10_000 },
  ] as const) {
    if (!signalProcess(pid, signal)) return
    const deadline = systemClock.monotonic() + waitMs
    while (systemClock.monotonic() < deadline) {
      if (commandOf(pid) !== command) return
      await sleep(systemClock, 5)
    }
  }
  throw unavailable(`The embedded database (pid ${pid}) does not end; its log is "${layout.logFile}".\n${logTail(layout)}`)
}

function signalProcess(pid: number, signal: NodeJS.Signals): boolean {
  try {
    return process.kill(pid, signal)
  } catch (error) {
    if (isCode(error, 'ESRCH')) return false
    if (!isCode(error, 'EPERM')) throw error
    throw new PawlError('denied', `The embedded database (pid ${pid}) was started by another user; only that user may stop it.`)
  }
}

function recordedPid(layout: Layout): number | undefined {
  const pid = Number(pidFile(layout)[0])
  return Number.isInteger(pid) && pid > 0 ? pid : undefined
}

function pidFile(layout: Layout): string[] {
  try {
    return readFileSync(join(layout.dataDir, 'postmaster.pid'), 'utf8').split('\n')
  } catch (error) {
    if (isCode(error, 'ENOENT', 'ENOTDIR')) return []
    throw error
  }
}

const maxLogBytes = 4 * 1024 * 1024

/** Opens the log for one start; the one before is kept once it has grown. Returns where the new lines begin. */
export function openLog(layout: Layout): { fd: number; from: number } {
  if (sizeOf(layout.logFile) > maxLogBytes) renameSync(layout.logFile, `${layout.logFile}.1`)
  const fd = openSync(layout.logFile, 'a', 0o600)
  return { fd, from: sizeOf(layout.logFile) }
}

/** The last lines of the server's log, at most 4 kB, none from before `from`. */
export function logTail(layout: Layout, from = 0): string {
  const end = sizeOf(layout.logFile)
  const start = Math.max(from, end - 4096)
  if (end <= start) return '(its log is empty)'
  const fd = openSync(layout.logFile, 'r')
  try {
    const bytes = Buffer.alloc(end - start)
    readSync(fd, bytes, 0, bytes.length, start)
    return bytes.toString('utf8').trimEnd().split('\n').slice(-12).join('\n')
  } finally {
    closeSync(fd)
  }
}

function sizeOf(path: string): number {
  return statSync(path, { throwIfNoEntry: false })?.size ?? 0
}
