import { isEnded, isHeldBack } from '../../domain/task/task.ts'
import type { QuestionView, TaskView } from '../../domain/view/view.ts'
import { formatTime, formatUntil, shortId } from './format.ts'
import { oneLine, plain } from './plain.ts'
import { blockedOn } from './render.ts'

export interface RestContext {
  readonly isDaemon: boolean
  /** The questions stand on the screen already. */
  readonly isAsked: boolean
}

/** For a task that waits: what for, and what makes it go on. Nothing for any other. */
export function restLines(task: TaskView, context: RestContext): string[] {
  const goesOn = context.isDaemon
    ? 'The daemon goes on with it then.'
    : `Nothing runs it meanwhile: "pawl serve" or "pawl task wait ${shortId(task.id)}" goes on with it then.`
  if (task.state === 'parked') {
    const until = task.resumeAt === null ? '' : ` until ${formatTime(task.resumeAt)}, ${formatUntil(task.resumeAt)}`
    return [
      `Parked${until}${task.reason ? ` (${oneLine(task.reason.kind)})` : ''}. ${goesOn}`,
      `Let it go on now with: pawl task resume ${shortId(task.id)}`,
    ]
  }
  if (task.state === 'blocked') {
    const asked = task.questions.filter((question) => question.state === 'pending')
    if (task.reason?.kind === 'subtasks') return subtaskLines(task, goesOn)
    if (task.reason?.kind === 'no_progress')
      return [
        `Blocked: it makes no progress. Look at it with: pawl logs ${shortId(task.id)}; let it go on with: pawl task retry ${shortId(task.id)}`,
      ]
    if (task.reason?.kind === 'worker_lost' || task.reason?.kind === 'interrupted')
      return [`Blocked: waits for ${blockedOn(task.reason.kind)}. ${oneLine(task.reason.detail ?? '', 600)}`]
    if (isHeldBack(task))
      return [
        `Blocked: waits for ${blockedOn(task.reason!.kind)}. ${oneLine(task.reason?.detail ?? '', 600)}`,
        `Start it anyway with: pawl task retry ${shortId(task.id)}`,
        ...task.dependsOn
          .filter(({ shortfall }) => shortfall !== undefined)
          .map(({ id }) => `Or have that done again first, and it starts by itself: pawl task retry ${shortId(id)}`),
      ]
    if (asked.length === 0) return [`Blocked: waits for ${blockedOn(task.reason?.kind ?? 'something else')}. ${goesOn}`]
    return [
      ...asked.flatMap((question) => [
        ...(context.isAsked ? [] : questionLines(question)),
        `Answer with: pawl answer ${question.id} "…"`,
      ]),
      goesOn,
    ]
  }
  if (task.state === 'review') {
    const id = shortId(task.id)
    return [`Accept the work with: pawl task accept ${id}`, `Send it back with: pawl task reject ${id} --comment "…"`]
  }
  return []
}

/** Which of its subtasks wait for somebody, and how to look at them. */
function subtaskLines({ subtasks }: TaskView, goesOn: string): string[] {
  const open = subtasks.filter(({ state }) => !isEnded(state))
  return [
    `Waits for ${open.length} of its ${subtasks.length} subtasks. ${goesOn}`,
    ...open
      .filter(({ state }) => state === 'blocked' || state === 'parked')
      .map(
        ({ id, name, state }) =>
          `  ${shortId(id)} is ${state}${name === null ? '' : ` (${oneLine(name, 60)})`}: pawl task show ${shortId(id)}`,
      ),
  ]
}

const questionLines = (question: QuestionView) => [
  `The agent asks: ${plain(question.text).replaceAll('\n', '\n  ')}`,
  ...question.options.map((option, i) => `  ${i + 1}. ${oneLine(option)}`),
]

/** Who asks, as the title of a question. */
export const askedBy = ({ kind }: Pick<QuestionView, 'kind'>) =>
  kind === 'permission' ? 'The agent asks for permission:' : kind === 'go_on' ? 'Pawl asks:' : 'The agent asks:'
