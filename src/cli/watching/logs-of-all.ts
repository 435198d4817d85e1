import type { Event } from '../../domain/event/event.ts'
import type { TaskState } from '../../domain/task/task.ts'
import type { TaskSummary } from '../../domain/view/view.ts'
import type { Connection } from '../connecting/connect.ts'
import { takePages } from '../finding/pages.ts'
import type { Cli } from '../terminal/cli.ts'
import { Interruption } from '../terminal/interrupt.ts'
import { eventLines } from '../terminal/show-events.ts'
import { shortId } from '../text/format.ts'

export interface WhichTasks {
  readonly agent?: string | undefined
  readonly tag?: string | undefined
  readonly states?: readonly TaskState[] | undefined
}

/** How many tasks are looked into for what happened lately. */
const lookedInto = 20

/** What happened lately in all tasks of a kind, in the order of time, and with `isFollowed` everything from then on. */
export async function logsOfAll(
  cli: Cli,
  { runtime, onDaemon }: Connection,
  which: WhichTasks,
  { count, isFollowed }: { count: number; isFollowed: boolean },
): Promise<void> {
  const interruption = new Interruption()
  interruption.onInterrupt(() => interruption.leave())
  onDaemon((state) => cli.say(state === 'away' ? 'The daemon is away; waiting for it.' : 'The daemon is back.'))
  // Nobody reads any more.
  process.stdout.once('error', () => interruption.leave())
  const shown = new Map<string, number>()
  const known = new Map<string, TaskSummary>()
  try {
    // The stream stands before the past is read, so that nothing falls between the two.
    const feed = isFollowed
      ? runtime.followFeed({ agent: which.agent, signal: interruption.left })[Symbol.asyncIterator]()
      : undefined
    await feed?.next()
    for (const event of await recent()) show(event)
    for (let batch = await feed?.next(); batch && !batch.done; batch = await feed!.next())
      for (const event of batch.value.events) if (await isWanted(event)) show(event)
  } finally {
    interruption.stop()
  }

  async function recent(): Promise<Event[]> {
    const { items } = await takePages(lookedInto, (page) => runtime.listTasks({ ...which, ...page }))
    for (const task of items) known.set(task.id, task)
    const events = (await Promise.all(items.map(({ id }) => lastEvents(id)))).flat()
    return events.sort((a, b) => (a.at < b.at ? -1 : a.at > b.at ? 1 : 0)).slice(-count)
  }

  async function lastEvents(id: string): Promise<Event[]> {
    let kept: Event[] = []
    for (let after = 0; ; ) {
      const events = await runtime.readEvents(id, { after, limit: 500 })
      if (events.length === 0) return kept
      kept = [...kept, ...events].slice(-count)
      after = events.at(-1)!.seq
    }
  }

  async function isWanted(event: Event): Promise<boolean> {
    if (which.tag === undefined && which.states === undefined) return true
    // Tags stay as they are while a task runs, its state does not.
    if (!known.has(event.task) || (which.states && !event.type.startsWith('agent.')))
      known.set(event.task, await runtime.getTask(event.task))
    const { tags, state } = known.get(event.task)!
    return (which.tag === undefined || tags.includes(which.tag)) && (which.states === undefined || which.states.includes(state))
  }

  function show(event: Event): void {
    if (event.seq <= (shown.get(event.task) ?? 0)) return
    shown.set(event.task, event.seq)
    const id = cli.style('faint', shortId(event.task), process.stdout)
    if (cli.globals.json) cli.json(event)
    else cli.out(eventLines(cli, event, { time: true, stream: process.stdout }).replace(/^/gm, `${id} `))
  }
}
