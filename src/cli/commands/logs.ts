import type { Command } from 'commander'
import { invalid, notFound } from '../../domain/error.ts'
import type { Event } from '../../domain/event/event.ts'
import type { Growing } from '../../domain/event/live-text.ts'
import { isAtRest, type TaskState } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import { type Connection, withConnection } from '../connecting/connect.ts'
import { findTask, taskArgument } from '../finding/find-task.ts'
import { parseCount } from '../finding/pages.ts'
import { runOfTask } from '../finding/run-of-task.ts'
import { parseStates } from '../requests/task-states.ts'
import type { Cli } from '../terminal/cli.ts'
import { Interruption } from '../terminal/interrupt.ts'
import { LiveLine, lastWords } from '../terminal/live-line.ts'
import { eventLines } from '../terminal/show-events.ts'
import { printData } from '../terminal/terminal.ts'
import { logsOfAll } from '../watching/logs-of-all.ts'
import { watchTask } from '../watching/watch.ts'

interface LogOptions {
  follow?: boolean
  forever?: boolean
  raw?: boolean
  agent?: string
  tag?: string
  state?: TaskState[]
  limit?: number
  run?: string
  stderr?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Print what happened in a task, or lately in all of them. With --json one event per line.')
    .argument('[task]', `${taskArgument}; all tasks if left out`)
    .option('-f, --follow', 'go on until the task comes to rest; Ctrl-C leaves without cancelling it')
    .option('--forever', 'with -f: go on also after it came to rest')
    .option('--raw', "print what the last run's program wrote to stdout, as it was")
    .option('--run <run>', 'with --raw: of this run instead; its number, 1 for the first, or its id')
    .option('--stderr', 'with --raw: what it wrote to stderr instead')
    .optionsGroup('Of all tasks:')
    .option('--agent <name>', 'only tasks of this agent')
    .option('--tag <name>', 'only tasks with this tag')
    .option('--state <state>', 'only tasks that are in one of these states then, separated by commas', parseStates)
    .option('-n, --limit <count>', 'begin with so many events', parseCount)
    .addHelpText(
      'after',
      '\nExamples\n  pawl logs -f last\n  pawl logs --raw last --run 1 --stderr\n  pawl logs --agent demo --state running,blocked\n  pawl logs -n 5',
    )
    .action((named: string | undefined, options: LogOptions) => {
      if (named === undefined) return ofAll(cli, options)
      const other = (['agent', 'tag', 'state', 'limit'] as const).find((option) => options[option] !== undefined)
      if (other !== undefined) throw invalid(`--${other} is for the logs of all tasks; leave the task out.`)
      return logs(cli, named, options)
    })
}

async function ofAll(cli: Cli, { agent, tag, state: states, limit = 100, follow, forever, raw }: LogOptions): Promise<void> {
  if (raw) throw invalid('--raw needs a task.')
  await withConnection(cli, { work: 'none' }, (connection) =>
    logsOfAll(cli, connection, { agent, tag, states }, { count: limit, isFollowed: follow === true || forever === true }),
  )
}

async function logs(cli: Cli, named: string, options: LogOptions): Promise<void> {
  if (!options.raw && (options.run !== undefined || options.stderr)) throw invalid('--run and --stderr go with --raw.')
  await withConnection(cli, { work: 'none' }, async (connection) => {
    const id = await findTask(connection.runtime, named)
    if (options.raw) await printRaw(cli, connection, id, options)
    else if (options.follow || options.forever) await follow(cli, connection, id, options)
    else for await (const event of allEvents(connection, id)) print(cli, event)
  })
}

function print(cli: Cli, event: Event): void {
  if (cli.globals.json) cli.json(event)
  else cli.out(eventLines(cli, event, { time: true, stream: process.stdout }))
}

async function* allEvents({ runtime }: Connection, id: string): AsyncGenerator<Event> {
  const limit = 500
  for (let after = 0; ; ) {
    const events = await runtime.readEvents(id, { after, limit })
    yield* events
    if (events.length === 0) {
      // An unknown task has no events; asking for it says so.
      if (after === 0) await runtime.getTask(id)
      return
    }
    after = events.at(-1)!.seq
  }
}

async function follow(cli: Cli, { runtime, onDaemon }: Connection, id: string, options: LogOptions): Promise<void> {
  const interruption = new Interruption()
  interruption.onInterrupt(() => interruption.leave())
  onDaemon((state) => cli.say(state === 'away' ? 'The daemon is away; waiting for it.' : 'The daemon is back.'))
  // Nobody reads any more.
  process.stdout.once('error', () => interruption.leave())
  // What is being said is not part of the log: it stands below it, on a terminal alone.
  const live = !cli.globals.json && cli.canDraw(process.stdout) && cli.canDraw(process.stderr) ? new LiveLine(cli) : undefined
  try {
    const isDone = (task: Pick<TaskView, 'state' | 'reason'>) => !options.forever && isAtRest(task.state, task.reason)
    const show = (event: Event) => {
      live?.set('', '')
      live?.clear()
      print(cli, event)
    }
    const onGrowing = live && ((growing: Growing | undefined) => growing && live.set('saying', lastWords(growing.text)))
    await watchTask(runtime, { task: id, after: 0, show, onGrowing, isDone, signal: interruption.left })
  } finally {
    live?.stop()
    interruption.stop()
  }
}

const pieceBytes = 1024 * 1024

async function printRaw(cli: Cli, { runtime }: Connection, id: string, options: LogOptions): Promise<void> {
  const task = await runtime.getTask(id)
  const run = options.run === undefined ? task.runs.at(-1)?.id : runOfTask(task, options.run)
  if (run === undefined) throw notFound(`Task ${id} has not run yet, so there is no raw output.`)
  const stream = options.stderr ? 'stderr' : 'stdout'
  let start = 0
  for (;;) {
    const part = await runtime.readRunLog(id, run, { stream, start, length: pieceBytes })
    if (cli.globals.json) cli.json(part)
    else printData(part.text)
    if (part.end >= part.size || part.end <= start) return
    start = part.end
  }
}
