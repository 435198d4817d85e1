import { type ChildProcess, spawn } from 'node:child_process'
import { existsSync } from 'node:fs'
import type { Readable, Writable } from 'node:stream'
import { type Clock, systemClock } from '../../base/clock.ts'
import { PawlError } from '../../domain/error.ts'
import type { Child, Exit } from './child.ts'
import { endingOutput } from './output.ts'
import { lowerPriority } from './priority.ts'

export interface SpawnOptions {
  readonly file: string
  readonly args: readonly string[]
  /** The whole environment: nothing of ours is inherited. */
  readonly env: Readonly<Record<string, string>>
  readonly cwd: string
  /** Descriptors from 3 on; a number is one of ours. */
  readonly extra?: readonly ('pipe' | 'ipc' | number)[]
  readonly clock?: Clock
}

/** A process that has started; how its tree is ended is up to whoever started it. */
export interface Started extends Omit<Child, 'stop'> {
  readonly process: ChildProcess
}

/** Starts a program without a shell, in a session and process group of its own, and with a lower priority than ours. Rejects with a `PawlError` if it does not start. */
export async function start(options: SpawnOptions): Promise<Started> {
  const { file, args, env, cwd, extra = [], clock = systemClock } = options
  const child = spawn(file, args, { cwd, env, stdio: ['pipe', 'pipe', 'pipe', ...extra], detached: true, shell: false })
  if (child.pid !== undefined) lowerPriority(child.pid)
  const stdin = child.stdin as Writable
  // A program that does not read its prompt breaks this pipe. That is its right, and its exit tells the rest.
  stdin.on('error', () => stdin.destroy())
  const exited = new Promise<Exit>((done) => child.once('exit', (code, signal) => done({ code, signal })))
  const stdout = endingOutput(child.stdout as Readable, exited, clock)
  const stderr = endingOutput(child.stderr as Readable, exited, clock)
  await new Promise<void>((done, fail) => {
    child.once('spawn', done)
    child.once('error', (error: NodeJS.ErrnoException) => fail(startError(error, file, cwd)))
  }).catch((error: unknown) => {
    stdout.destroy()
    stderr.destroy()
    throw error
  })
  // Later ones are failed kills and sends, which are answered where they are made.
  child.on('error', () => {})
  return { process: child, pid: child.pid as number, stdin, stdout, stderr, exited }
}

function startError(error: NodeJS.ErrnoException, file: string, cwd: string): PawlError {
  const cause = { cause: error }
  if (!existsSync(cwd)) return new PawlError('invalid', `The directory "${cwd}" to start "${file}" in does not exist.`, cause)
  switch (error.code) {
    case 'ENOENT':
      return new PawlError('unavailable', `The program "${file}" was not found; install it, or give its full path.`, cause)
    case 'EACCES':
      return new PawlError('unavailable', `The program "${file}" may not be executed; check its permissions (chmod +x).`, cause)
    case 'E2BIG':
      return new PawlError('invalid', `The arguments and environment of "${file}" are too long for the system.`, cause)
    default:
      return new PawlError('unavailable', `The program "${file}" could not be started: ${error.message}.`, cause)
  }
}
