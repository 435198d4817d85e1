import { mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Clock } from '../../base/clock.ts'
import { PawlError } from '../../domain/error.ts'
import type { CommandWay } from '../../domain/notification/notification.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import type { Exit, KillUnit } from '../../sandbox/process/child.ts'
import { findProgram } from '../../sandbox/process/program.ts'
import { start } from '../../sandbox/process/spawn.ts'
import { endKillUnit, killUnitVariable, signal as send, stopper } from '../../sandbox/process/tree.ts'
import type { Work } from './changes.ts'
import type { Message } from './message.ts'
import type { Sent } from './sender.ts'

export interface CommandParts {
  readonly clock: Clock
  readonly home: string
  readonly path: string
  readonly userHome: string
  readonly environment: (names: readonly string[]) => Record<string, string>
  readonly redact: <T>(value: T) => T
  readonly signal: AbortSignal
  /** What the task has changed, with the difference written to that file. */
  readonly workOf: (task: string, diffFile: string, signal: AbortSignal) => Promise<Work>
}

/** What programs need to show something on a screen, or to speak for the person whose machine it is; no keys. */
const passed = [
  'DBUS_SESSION_BUS_ADDRESS',
  'DISPLAY',
  'LANG',
  'LC_ALL',
  'LOGNAME',
  'SSH_AUTH_SOCK',
  'TMPDIR',
  'USER',
  'WAYLAND_DISPLAY',
  'XDG_RUNTIME_DIR',
] as const

/**
 * Runs a command of the owner on this machine, as the user of Pawl and without a shell. What agents have said reaches it only on its standard input and in files;
 * variables hold nothing but ids, names of ours and paths. It starts in Pawl's home, never in a workspace.
 */
export async function runCommand(way: CommandWay, name: string, message: Message, parts: CommandParts): Promise<Sent> {
  const startedAt = parts.clock.monotonic()
  const unit: KillUnit = { kind: 'process_group', marker: message.id, enforced: false }
  const folder = join(parts.home, 'hooks', message.id)
  const tookMs = () => Math.round(parts.clock.monotonic() - startedAt)
  try {
    // What an earlier try left running, because Pawl died beside it, must not go on beside this one.
    await endKillUnit(unit)
    await mkdir(folder, { recursive: true, mode: 0o700 })
    const work = way.diff ? await parts.workOf(message.task.id, join(folder, 'changes.diff'), parts.signal) : undefined
    const [file = '', ...args] = way.run
    const env = {
      ...parts.environment([...passed, ...way.env.pass]),
      ...way.env.set,
      PATH: parts.path,
      HOME: parts.userHome,
      [killUnitVariable]: unit.marker,
      ...variables(name, message, work),
    }
    const program = await findProgram(file, { path: parts.path, folder: parts.home })
    const child = await start({ file: program, args, env, cwd: parts.home })
    child.stdin.end(`${JSON.stringify(parts.redact({ ...message, ...(work ? { work } : {}) }))}\n`)
    const stop = stopper({
      pid: child.pid,
      exited: child.exited,
      ask: () => void send(-child.pid, 'SIGTERM'),
      kill: () => void send(-child.pid, 'SIGKILL'),
      sweep: async () => void (await endKillUnit(unit)),
    })
    let isLate = false
    const timer = setTimeout(() => {
      isLate = true
      void stop({ graceMs: 1_000 })
    }, way.timeoutMs)
    const leave = () => void stop({ graceMs: 500 })
    parts.signal.addEventListener('abort', leave)
    if (parts.signal.aborted) leave()
    const output = endOf([child.stdout, child.stderr])
    const exit = await child.exited
    clearTimeout(timer)
    parts.signal.removeEventListener('abort', leave)
    const printed = parts.redact(await output)
    await stop({ graceMs: 0 })
    const failure = isLate ? `it took longer than ${way.timeoutMs / 1_000} s` : failureOf(exit)
    const ran = { exitCode: exit.code, output: printed, durationMs: tookMs() }
    return failure === undefined
      ? { delivered: true, detail: 'The command ended well.', ran }
      : { delivered: false, detail: `The command failed: ${failure}.`, ran }
  } catch (error) {
    if (!(error instanceof PawlError)) throw error
    return { delivered: false, detail: error.message, ran: { exitCode: null, output: '', durationMs: tookMs() } }
  } finally {
    await removeTree(folder)
  }
}

function variables(name: string, { id, type, run, task }: Message, work: Work | undefined): Record<string, string> {
  return {
    PAWL_NOTIFICATION: name,
    PAWL_NOTIFICATION_ID: id,
    PAWL_EVENT: type,
    PAWL_TASK_ID: task.id,
    PAWL_TASK_STATE: task.state,
    PAWL_AGENT: task.agent,
    ...(run === null ? {} : { PAWL_RUN_ID: run }),
    PAWL_WORKSPACE: work?.workspace || task.workspace,
    ...(work ? { PAWL_REPOSITORY: task.workspace } : {}),
    ...(work?.branch ? { PAWL_BRANCH: work.branch } : {}),
    ...(work?.diff ? { PAWL_DIFF: work.diff } : {}),
  }
}

function failureOf({ code, signal: by }: Exit): string | undefined {
  if (code === 0) return undefined
  return by === null ? `it ended with ${code}` : `it was ended by ${by}`
}

const mostOutput = 4_000

/** The last of what is printed, both streams as they come. */
async function endOf(streams: readonly AsyncIterable<Buffer | string>[]): Promise<string> {
  let text = ''
  await Promise.all(
    streams.map(async (stream) => {
      for await (const chunk of stream) text = `${text}${String(chunk)}`.slice(-mostOutput)
    }),
  )
  return text.toWellFormed().trim()
}
