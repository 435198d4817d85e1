import { exitCodeOf } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import { type Connection, connect } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { Interruption } from '../terminal/interrupt.ts'
import { followToRest } from './follow-until-settled.ts'
import { RunScreen } from './run-screen.ts'

/** Makes a task, shows it until it comes to rest, and lets `tell` say how it went. */
export async function runAgain(
  cli: Cli,
  make: (connection: Connection) => Promise<TaskView>,
  tell: (connection: Connection, task: TaskView, screen: RunScreen) => Promise<number>,
): Promise<number> {
  const interruption = new Interruption()
  const screen = new RunScreen(cli, cli.globals.json ? 'json' : 'text')
  let connection: Connection | undefined
  try {
    connection = await connect(cli, { work: 'own', isForNewTask: true })
    const { runtime } = connection
    const task = await make(connection)
    screen.begin(task)
    interruption.onInterrupt((count) => {
      if (count > 2) return interruption.leave()
      void runtime.cancelTask(task.id, { by: 'cli', now: count > 1 }).catch(() => interruption.leave(1))
    })
    const rested = await followToRest(cli, runtime, { task: task.id, after: 0, screen, interruption, stays: [] })
    if (!rested) return interruption.exitCode
    screen.pause()
    return rested.state === 'cancelled' ? exitCodeOf(rested) : await tell(connection, rested, screen)
  } finally {
    screen.stop()
    await connection?.close()
    interruption.stop()
  }
}
