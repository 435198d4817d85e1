import { isAtRest, isEnded } from '../domain/task.ts'
import type { TaskView } from '../domain/view.ts'
import type { Runtime } from '../engine/runtime.ts'
import { askPerson } from './ask.ts'
import type { Cli } from './cli.ts'
import type { Interruption } from './interrupt.ts'
import type { RunScreen } from './run-screen.ts'
import { watchTask } from './watch.ts'

export interface Follow {
  readonly task: string
  readonly after: number
  readonly screen: RunScreen
  readonly interruption: Interruption
  /** Rests that are not the end, and through which we stay. */
  readonly stays: readonly ('parked' | 'blocked')[]
}

/**
 * Shows a task until it comes to a rest that we do not stay through; on a terminal its questions are asked right there.
 * Undefined if we were told to leave before.
 */
export async function followToRest(cli: Cli, runtime: Runtime, follow: Follow): Promise<TaskView | undefined> {
  const { screen, interruption } = follow
  for (let { after } = follow; ; ) {
    const seen = await watchTask(runtime, {
      task: follow.task,
      after,
      show: (event) => screen.show(event),
      isDone: (view) => isAtRest(view.state),
      signal: interruption.left,
    })
    if (!seen) return undefined
    after = seen.after
    const { task } = seen
    if (isEnded(task.state) || task.state === 'review' || interruption.count > 0) return task
    if (cli.isInteractive && pending(task).length > 0) {
      screen.pause()
      if (!(await answerPending(cli, runtime, task))) return task
    } else if (!(follow.stays as readonly string[]).includes(task.state)) return task
  }
}

/** Asks the person at the terminal everything the task waits for. False if they leave a question open. */
export async function answerPending(cli: Cli, runtime: Runtime, task: TaskView): Promise<boolean> {
  for (const question of pending(task)) {
    const answer = await askPerson(cli, question)
    if (answer === undefined) return false
    await runtime.answerQuestion(question.id, answer, { by: 'cli' })
  }
  return true
}

export const pending = (task: TaskView) =>
  task.state === 'blocked' ? task.questions.filter((question) => question.state === 'pending') : []
