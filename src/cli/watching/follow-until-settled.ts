import { waitForSubtasks, waitsForSubtasks } from '../../client/wait-for-subtasks.ts'
import { PawlError } from '../../domain/error.ts'
import { isAtRest, isEnded } from '../../domain/task/task.ts'
import type { QuestionView, TaskView } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { askPerson } from '../terminal/ask.ts'
import type { Cli } from '../terminal/cli.ts'
import type { Interruption } from '../terminal/interrupt.ts'
import type { RunScreen } from './run-screen.ts'
import { watchTask } from './watch.ts'

export interface Follow {
  readonly task: string
  readonly after: number
  readonly screen: RunScreen
  readonly interruption: Interruption
  /** Rests that are not the end, and through which we stay. */
  readonly stays: readonly ('parked' | 'blocked')[]
  /** A task that is parked for no longer than this is waited for, whatever `stays` says. */
  readonly patienceMs?: number | undefined
}

/**
 * Shows a task until it comes to a rest that we do not stay through; on a terminal its questions are asked right there.
 * Undefined if we were told to leave before.
 */
export async function followToRest(cli: Cli, runtime: Runtime, follow: Follow): Promise<TaskView | undefined> {
  const { screen, interruption } = follow
  let isLeft = false
  /** While the run waits: whoever answers now does not stop it. */
  const answerNow = async () => {
    const task = await runtime.getTask(follow.task)
    if (task.state !== 'running' || open(task).length === 0) return
    screen.pause()
    isLeft = !(await answerAll(cli, runtime, open(task)))
    if (isLeft) screen.note('It is left open. The run waits a moment longer for an answer, then it ends.')
  }
  for (let { after } = follow; ; ) {
    const seen = await watchTask(runtime, {
      task: follow.task,
      after,
      show: (event) => screen.show(event),
      ...(screen.isDrawn ? { onGrowing: (growing) => screen.grow(growing) } : {}),
      isDone: (view) => isAtRest(view.state),
      signal: interruption.left,
      ...(cli.isInteractive ? { attends: true, onQuestion: answerNow } : {}),
    })
    if (!seen) return undefined
    after = seen.after
    const { task } = seen
    if (isEnded(task.state) || task.state === 'review' || interruption.count > 0) return task
    if (waitsForSubtasks(task)) {
      const goesOn = await waitForSubtasks(runtime, task.id, interruption.left)
      if (goesOn === undefined) return undefined
      if (!goesOn && !follow.stays.includes('blocked')) return runtime.getTask(task.id)
    } else if (cli.isInteractive && pending(task).length > 0) {
      screen.pause()
      if (isLeft || !(await answerPending(cli, runtime, task))) return task
    } else if (!(follow.stays as readonly string[]).includes(task.state) && !isBrief(task, follow.patienceMs ?? 0)) return task
  }
}

const isBrief = ({ state, resumeAt }: TaskView, patienceMs: number) =>
  state === 'parked' && resumeAt !== null && new Date(resumeAt).getTime() - Date.now() <= patienceMs

/** Asks the person at the terminal everything the task waits for. False if they leave a question open. */
export const answerPending = (cli: Cli, runtime: Runtime, task: TaskView) => answerAll(cli, runtime, pending(task))

async function answerAll(cli: Cli, runtime: Runtime, questions: readonly QuestionView[]): Promise<boolean> {
  for (const question of questions) {
    const answer = await askPerson(cli, question)
    if (answer === undefined) return false
    await runtime.answerQuestion(question.id, { ...answer, digest: question.digest }, { by: 'cli' }).catch((error: unknown) => {
      // Somebody else was quicker, or its time was up while we sat here.
      if (!(error instanceof PawlError) || error.code !== 'conflict') throw error
      cli.say(error.message)
    })
  }
  return true
}

const open = (task: TaskView) => task.questions.filter((question) => question.state === 'pending')
export const pending = (task: TaskView) => (task.state === 'blocked' ? open(task) : [])
