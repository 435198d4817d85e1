import { exitCodeOf, isAtRest } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import type { Connection } from '../connecting/connect.ts'
import type { Cli } from '../terminal/cli.ts'
import { Interruption } from '../terminal/interrupt.ts'
import { formatTaskState } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { runResult } from './run-screen.ts'
import { watchTask } from './watch.ts'

/** Waits for several tasks at once, tells each as it comes to rest, and gives the exit code for all of them. */
export async function waitForTasks(
  cli: Cli,
  connection: Connection,
  ids: readonly string[],
  { timeoutMs, isAny }: { timeoutMs: number | undefined; isAny: boolean },
): Promise<number> {
  const { runtime } = connection
  const interruption = new Interruption()
  interruption.onInterrupt(() => interruption.leave())
  connection.onDaemon((state) => cli.say(state === 'away' ? 'The daemon is away; waiting for it.' : 'The daemon is back.'))
  const over = new AbortController()
  const signal = AbortSignal.any([interruption.left, over.signal])
  let isTimeUp = false
  const timeUp = () => {
    isTimeUp = true
    over.abort()
  }
  const timer = timeoutMs === undefined ? undefined : setTimeout(timeUp, timeoutMs)
  const rested = new Map<string, TaskView>()
  try {
    await Promise.all(ids.map((id) => connection.adopt(id)))
    await Promise.all(ids.map(waitFor))
    if (isTimeUp && rested.size === 0) {
      const waiting = await Promise.all(ids.map((id) => runtime.getTask(id)))
      say('The time is up; nothing is done yet.')
      return timeUpCode(waiting)
    }
    if (cli.globals.json) cli.json({ items: [...rested.values()].map(runResult), waitedFor: ids })
    if (isAny && rested.size > 0) return exitCodeOf([...rested.values()][0]!)
    const missing = ids.filter((id) => !rested.has(id))
    if (missing.length > 0 && isTimeUp) {
      say(`The time is up; not done: ${missing.join(', ')}.`)
      return timeUpCode(await Promise.all(missing.map((id) => runtime.getTask(id))))
    }
    if (missing.length > 0) return interruption.exitCode
    return ids.map((id) => exitCodeOf(rested.get(id)!)).find((code) => code !== 0) ?? 0
  } finally {
    clearTimeout(timer)
    interruption.stop()
  }

  async function waitFor(id: string): Promise<void> {
    const done = ({ state, reason }: TaskView) => state !== 'parked' && isAtRest(state, reason)
    const now = await runtime.getTask(id)
    const task = done(now)
      ? now
      : (await watchTask(runtime, { task: id, after: 0, show: () => undefined, isDone: done, signal }))?.task
    if (!task || (isAny && rested.size > 0)) return
    rested.set(id, task)
    if (!cli.globals.json) cli.out(`${id}  ${formatTaskState(task)}  ${oneLine(task.name ?? task.prompt, 80)}`)
    if (isAny) over.abort()
  }

  function say(text: string): void {
    cli.say(`pawl: ${text}`)
  }
}

/** A limit that holds everything up is another matter than work that takes long. */
export const timeUpCode = (tasks: readonly Pick<TaskView, 'state'>[]) =>
  tasks.length > 0 && tasks.every(({ state }) => state === 'parked') ? 75 : 124
