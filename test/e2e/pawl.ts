import { type ChildProcess, spawn } from 'node:child_process'
import { readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { bundle } from '../bundle.ts'
import { until } from '../engine/until.ts'

/** What was compiled is kept in the user's home, and each test has a new one: here they share it. */
export const compileCache = join(tmpdir(), 'node-compile-cache')
const { pawl: bin } = await bundle()

export interface Ended {
  readonly code: number | null
  readonly stdout: string
  readonly stderr: string
}

/** The command line as a user starts it: a process of its own, its own home, no terminal. */
export interface Running {
  readonly process: ChildProcess
  readonly stdout: () => string
  readonly stderr: () => string
  readonly ended: Promise<Ended>
}

export function startPawl(
  home: string,
  args: readonly string[],
  options: { cwd?: string; stdin?: string; env?: Record<string, string>; inherits?: boolean } = {},
): Running {
  return startNode(home, [bin, ...args], options)
}

function startNode(home: string, args: readonly string[], options: NonNullable<Parameters<typeof startPawl>[2]>): Running {
  const child = spawn(process.execPath, args, {
    cwd: options.cwd ?? home,
    env: { PATH: process.env.PATH, HOME: home, PAWL_HOME: home, NODE_COMPILE_CACHE: compileCache, ...options.env },
    stdio: ['pipe', 'pipe', 'pipe', ...(options.inherits ? (['pipe'] as const) : [])],
  })
  let [stdout, stderr] = ['', '']
  child.stdout.setEncoding('utf8').on('data', (text) => (stdout += text))
  child.stderr.setEncoding('utf8').on('data', (text) => (stderr += text))
  child.stdin.on('error', () => undefined)
  child.stdin.end(options.stdin ?? '')
  const ended = new Promise<Ended>((done) => child.once('close', (code) => done({ code, stdout, stderr })))
  return { process: child, stdout: () => stdout, stderr: () => stderr, ended }
}

export const pawl = (home: string, args: readonly string[], options?: Parameters<typeof startPawl>[2]) =>
  startPawl(home, args, options).ended

export const json = <T = Record<string, unknown>>(ended: Ended): T => JSON.parse(ended.stdout) as T

/** A daemon of the home, on a free port unless one is named, ready to be spoken to. `program` starts it instead of `pawl serve` and is given the port. */
export async function serve(
  home: string,
  options: { cwd?: string; env?: Record<string, string>; port?: string; inherits?: boolean; program?: string | undefined } = {},
): Promise<Running & { url: string; token: string }> {
  const { port = '0', program } = options
  const running = program ? startNode(home, [program, port], options) : startPawl(home, ['serve', '--port', port], options)
  const url = await until(async () => {
    if (running.process.exitCode !== null) throw new Error(`the daemon ended: ${running.stderr()}`)
    const text = await readFile(join(home, 'run.json'), 'utf8').catch(() => '{}')
    const { pid, url } = JSON.parse(text) as { pid?: number; url?: string }
    // One that was killed has left its own behind.
    return pid === running.process.pid ? url : undefined
  }, 60_000)
  return { ...running, url, token: (await readFile(join(home, 'token'), 'utf8')).trim() }
}
