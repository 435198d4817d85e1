import { createReadStream } from 'node:fs'
import { join } from 'node:path'
import { StringDecoder } from 'node:string_decoder'
import type { Command } from 'commander'
import { clientSettings } from '../../config.ts'
import { notFound } from '../../domain/error.ts'
import type { Event } from '../../domain/event.ts'
import { isAtRest } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view.ts'
import type { Cli } from '../cli.ts'
import { type Connection, withConnection } from '../connect.ts'
import { findTask } from '../find-task.ts'
import { Interruption } from '../interrupt.ts'
import { plain } from '../plain.ts'
import { eventLines } from '../show-events.ts'
import { watchTask } from '../watch.ts'

interface LogOptions {
  follow?: boolean
  forever?: boolean
  raw?: boolean
}

export function define(command: Command, cli: Cli): void {
  command
    .description('Print what happened in a task. With --json one event per line.')
    .argument('<task>', 'its id, the end of it, or "last"')
    .option('-f, --follow', 'go on until the task comes to rest; Ctrl-C leaves without cancelling it')
    .option('--forever', 'with -f: go on also after it came to rest')
    .option('--raw', "print what the last run's program wrote to stdout, as it was")
    .action((named: string, options: LogOptions) => logs(cli, named, options))
}

async function logs(cli: Cli, named: string, options: LogOptions): Promise<void> {
  await withConnection(cli, { work: 'none' }, async (connection) => {
    const id = await findTask(connection.runtime, named)
    if (options.raw) await printRaw(cli, connection, id)
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
  try {
    const isDone = (task: Pick<TaskView, 'state' | 'reason'>) => !options.forever && isAtRest(task.state, task.reason)
    await watchTask(runtime, { task: id, after: 0, show: (event) => print(cli, event), isDone, signal: interruption.left })
  } finally {
    interruption.stop()
  }
}

async function printRaw(cli: Cli, { runtime }: Connection, id: string): Promise<void> {
  const run = (await runtime.getTask(id)).runs.at(-1)
  if (!run) throw notFound(`Task ${id} has not run yet, so there is no raw output.`)
  const { home } = await clientSettings({ cwd: cli.cwd, home: cli.globals.home })
  const file = join(home, 'runs', run.id, 'stdout.log')
  cli.say(cli.style('faint', file))
  const decoder = new StringDecoder('utf8')
  // On a terminal even raw output may not steer it; a pipe gets every byte.
  const show = process.stdout.isTTY ? (chunk: Buffer) => plain(decoder.write(chunk)) : (chunk: Buffer) => chunk
  try {
    for await (const chunk of createReadStream(file) as AsyncIterable<Buffer>) process.stdout.write(show(chunk))
  } catch (error) {
    if ((error as NodeJS.ErrnoException).code !== 'ENOENT') throw error
    throw notFound(`Run ${run.id} has no raw output on this machine (${file}).`)
  }
}
