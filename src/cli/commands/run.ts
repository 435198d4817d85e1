import { type Command, Option } from 'commander'
import { messageOf, PawlError } from '../../domain/error.ts'
import { exitCodeOf, isEnded } from '../../domain/task/task.ts'
import { type Connection, connect, withConnection } from '../connecting/connect.ts'
import {
  askedOf,
  createTask,
  defineTask,
  sayQueued,
  sayWarning,
  type TaskOptions,
  taskRequest,
} from '../requests/task-request.ts'
import type { Cli } from '../terminal/cli.ts'
import { Interruption } from '../terminal/interrupt.ts'
import { formatState, shortId } from '../text/format.ts'
import { followToRest } from '../watching/follow-until-settled.ts'
import { type OutputFormat, RunScreen, runResult } from '../watching/run-screen.ts'

interface RunOptions extends TaskOptions {
  detach?: boolean
  wait?: boolean
  outputFormat?: OutputFormat
}

export function define(command: Command, cli: Cli): void {
  defineTask(command.description('Run one task now, show it live, and end with a code that says how it went.'))
    .option('--detach', 'queue it, print its id, and leave')
    .option('--wait', 'stay while it waits for an answer or a time')
    .addOption(new Option('--output-format <format>', 'what goes to stdout').choices(['text', 'json', 'stream-json']))
    .addHelpText('after', examples)
    .action(async (words: string[], options: RunOptions) => {
      cli.exitCode = await (options.detach ? detach(cli, words, options) : run(cli, words, options))
    })
}

const examples = `
Examples
  pawl run "fix the failing test"
  pawl run --agent demo --workspace ../site -- "-v is broken, find out why"
  git diff | pawl run "review this" -
  pawl run --attach screenshot.png "make the page look like this"
  pawl run --session last "and now the other one"

Exit codes: 0 completed or in review, 1 failed, 2 usage, 3 blocked, 4 over budget,
5 checks failed, 75 parked, 124 timed out, 130 cancelled. Ctrl-C cancels with grace, twice at once.`

async function detach(cli: Cli, words: string[], options: RunOptions): Promise<number> {
  const request = await taskRequest(cli, words, options)
  return withConnection(cli, { work: 'none', isForNewTask: true }, async (connection) => {
    const task = await createTask(connection, { ...request, ...(await askedOf(connection, options, cli.cwd)), attended: false })
    if (cli.globals.json || options.outputFormat?.includes('json')) cli.json(runResult(task))
    else cli.out(task.id)
    sayQueued(cli, connection, options.agent === undefined ? task : undefined)
    await sayWarning(cli, connection, task, request)
    return 0
  })
}

/** A limit of seconds is not worth coming back for. */
const patienceMs = 30_000

async function run(cli: Cli, words: string[], options: RunOptions): Promise<number> {
  const request = await taskRequest(cli, words, options)
  const interruption = new Interruption()
  const screen = new RunScreen(cli, options.outputFormat ?? (cli.globals.json ? 'json' : 'text'))
  let connection: Connection | undefined
  try {
    connection = await connect(cli, { work: 'own', isForNewTask: true })
    // It may have to ask whether this folder's settings are trusted.
    screen.pause()
    const agent = await askedOf(connection, options, cli.cwd)
    if (interruption.count > 0) return interruption.exitCode
    const task = await createTask(connection, { ...request, ...agent, attended: process.stderr.isTTY === true })
    screen.begin(task)
    cancelOnInterrupt(cli, connection, { task: task.id, interruption, screen })
    connection.onDisowned(() => {
      screen.note(`This process stood still for too long, and another one has the task now: pawl task wait ${shortId(task.id)}`)
      interruption.leave(1)
    })
    const stays = options.wait ? (['parked', 'blocked'] as const) : []
    const rested = await followToRest(cli, connection.runtime, {
      ...{ task: task.id, after: 0, screen, interruption, stays, patienceMs },
    })
    if (!rested) return interruption.exitCode
    screen.end(rested, connection)
    return exitCodeOf(rested)
  } finally {
    screen.stop()
    await connection?.close()
    interruption.stop()
  }
}

interface Watched {
  readonly task: string
  readonly interruption: Interruption
  readonly screen: RunScreen
}

/** Once: with grace. Twice: now. Three times: leave without waiting for the end. */
function cancelOnInterrupt(cli: Cli, connection: Connection, { task, interruption, screen }: Watched): void {
  let isAway = false
  connection.onDaemon((state) => {
    isAway = state === 'away'
    screen.daemon(state)
  })
  interruption.onInterrupt((count) => {
    if (count > 2) return interruption.leave()
    if (isAway) return void cancelWithoutDaemon(cli, { task, interruption, screen }, count > 1)
    screen.note(count === 1 ? 'Cancelling: the agent may finish what it is at. Ctrl-C again stops it now.' : 'Stopping it now.')
    connection.runtime.cancelTask(task, { by: 'cli', now: count > 1 }).catch((error: Error) => {
      if (error instanceof PawlError && error.code === 'unavailable')
        return cancelWithoutDaemon(cli, { task, interruption, screen }, count > 1)
      screen.note(`pawl: the task could not be cancelled: ${error.message}`)
      interruption.leave(1)
    })
  })
}

/** With the daemon away nobody obeys at once: what waits is cancelled in the database, what ran is stopped by whoever takes it over. */
async function cancelWithoutDaemon(cli: Cli, { task, interruption, screen }: Watched, now: boolean): Promise<void> {
  screen.note('The daemon is away; cancelling the task without it.')
  try {
    const { state } = await withConnection(cli, { work: 'none' }, ({ runtime }) => runtime.cancelTask(task, { by: 'cli', now }))
    screen.note(
      isEnded(state) ? `${task} is ${formatState(state)}.` : `${task} is cancelled as soon as a daemon of this home is back.`,
    )
    interruption.leave()
  } catch (error) {
    screen.note(`pawl: ${task} stays queued, it could not be cancelled: ${messageOf(error)}`)
    interruption.leave(1)
  }
}
