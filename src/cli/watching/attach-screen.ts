import { exitCodeOf, isEnded } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import type { Connection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { Interruption } from '../terminal/interrupt.ts'
import { type Key, Keys } from '../terminal/keys.ts'
import { shortId } from '../text/format.ts'
import { answerPending, followToRest, pending } from './follow-until-settled.ts'
import { RunScreen } from './run-screen.ts'

/** How much of what happened so far is shown first. */
const history = 40

/**
 * A task live on this terminal: what happened lately, then everything as it comes, and its questions as they are asked. The task goes on whatever happens here.
 * Gives the exit code of the task once it has come to rest, 0 for whoever detaches before.
 */
export async function attachTo(cli: Cli, connection: Connection, id: string): Promise<number> {
  const { runtime } = connection
  const interruption = new Interruption()
  const screen = new RunScreen(cli, cli.globals.json ? 'stream-json' : 'text')
  const detach = () => interruption.leave(0)
  let presses = 0
  const onInterrupt = () => {
    if (++presses > 1) return detach()
    screen.note(`The task goes on. To stop it: pawl cancel ${shortId(id)}. To leave it alone: q, Ctrl-D or Ctrl-C again.`)
  }
  interruption.onInterrupt(onInterrupt)
  const terminated = () => interruption.leave(143)
  process.once('SIGTERM', terminated)
  const keys = cli.isInteractive ? new Keys(heard) : undefined
  cli.onAsking = (isAsking) => (isAsking ? keys?.pause() : keys?.resume())
  connection.onDaemon((state) => screen.daemon(state))
  try {
    let task = await runtime.getTask(id)
    screen.begin(task)
    if (keys) screen.note('Attached: q or Ctrl-D detaches, and the task goes on.')
    if (!connection.isDaemon && task.state === 'queued') screen.note('No daemon is running: "pawl serve" will run it.')
    const after = await showHistory(connection, { task, screen })
    // What the history tells of may have happened since: a question in it is not told again by what follows.
    task = await runtime.getTask(id)
    const isAsked = cli.isInteractive && pending(task).length > 0
    if (isAsked) screen.pause()
    const isLeft = isAsked && !(await answerPending(cli, runtime, task))
    if (!isLeft && !isEnded(task.state) && task.state !== 'review') {
      const stays = cli.isInteractive ? (['parked', 'blocked'] as const) : (['parked'] as const)
      const rested = await followToRest(cli, runtime, { task: id, after, screen, interruption, stays })
      if (!rested) {
        screen.note(`Detached; it goes on. Come back with: pawl attach ${shortId(id)}`)
        return interruption.exitCode
      }
      task = rested
    }
    screen.end(task, connection)
    return exitCodeOf(task)
  } finally {
    screen.stop()
    keys?.stop()
    cli.onAsking = undefined
    process.off('SIGTERM', terminated)
    interruption.stop()
  }

  function heard({ name, ctrl }: Key): void {
    if (ctrl && name === 'c') onInterrupt()
    else if (name === 'q' || (ctrl && name === 'd')) detach()
  }
}

async function showHistory({ runtime }: Connection, { task, screen }: { task: TaskView; screen: RunScreen }): Promise<number> {
  let [after, recent, seen]: [number, Awaited<ReturnType<typeof runtime.readEvents>>, number] = [0, [], 0]
  for (;;) {
    const events = await runtime.readEvents(task.id, { after, limit: 500 })
    if (events.length === 0) break
    after = events.at(-1)!.seq
    seen += events.length
    recent = [...recent, ...events].slice(-history)
  }
  if (seen > recent.length) screen.note(`${seen - recent.length} earlier events: pawl logs ${shortId(task.id)}`)
  for (const event of recent) screen.show(event)
  return after
}
