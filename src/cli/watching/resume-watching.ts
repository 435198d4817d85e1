import { exitCodeOf, isEnded } from '../../domain/task/task.ts'
import type { Connection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { Interruption } from '../terminal/interrupt.ts'
import { formatState } from '../text/format.ts'
import { answerPending, followToRest, pending } from './follow-until-settled.ts'
import { RunScreen, runResult } from './run-screen.ts'
import { timeUpCode } from './wait-for-tasks.ts'

/** Shows an existing task from here on until it ends or asks something, and gives its exit code. Ctrl-C leaves without cancelling it. */
export async function resumeWatching(
  cli: Cli,
  connection: Connection,
  id: string,
  { timeoutMs }: { timeoutMs?: number | undefined } = {},
): Promise<number> {
  const { runtime } = connection
  const interruption = new Interruption()
  interruption.onInterrupt(() => interruption.leave())
  let isTimeUp = false
  const timeUp = () => {
    isTimeUp = true
    interruption.leave()
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(timeUp, timeoutMs)
  const screen = new RunScreen(cli, cli.globals.json ? 'json' : 'text')
  connection.onDaemon((state) => screen.daemon(state))
  try {
    await connection.adopt(id)
    const after = await lastEvent(connection, id)
    let task = await runtime.getTask(id)
    const isLeft = cli.isInteractive && pending(task).length > 0 && !(await answerPending(cli, runtime, task))
    const isOver = isEnded(task.state) || task.state === 'review' || (pending(task).length > 0 && !cli.isInteractive)
    if (!isLeft && !isOver) {
      screen.begin(task)
      const rested = await followToRest(cli, runtime, { task: id, after, screen, interruption, stays: ['parked'] })
      if (!rested && isTimeUp) {
        const now = await runtime.getTask(id)
        screen.note(`The time is up; task ${id} is ${formatState(now.state)}.`)
        if (cli.globals.json) cli.json(runResult(now))
        return timeUpCode([now])
      }
      if (!rested) return interruption.exitCode
      task = rested
    }
    screen.end(task, connection)
    return exitCodeOf(task)
  } finally {
    clearTimeout(timer)
    screen.stop()
    interruption.stop()
  }
}

async function lastEvent({ runtime }: Connection, id: string): Promise<number> {
  for (let after = 0; ; ) {
    const last = (await runtime.readEvents(id, { after, limit: 500 })).at(-1)
    if (!last) return after
    after = last.seq
  }
}
