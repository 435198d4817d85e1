import { z } from 'zod'
import { seesDetail, withoutDetail } from '../../domain/auth/detail.ts'
import { invalid } from '../../domain/error.ts'
import { TaskId } from '../../domain/id.ts'
import { replyOf } from '../../domain/task/reply.ts'
import { isAtRest, isEnded, shortfallOf, taskStates } from '../../domain/task/task.ts'
import type { QuestionView, TaskSummary, TaskView } from '../../domain/view/view.ts'
import type { Call } from './call.ts'

/** A task as tools show it: what one must know to go on, and little enough for a model to read. */
export const ShownQuestion = z.object({
  id: z.string(),
  task: z.string(),
  kind: z.string().describe('"free", or "permission" for leave to use a tool'),
  text: z.string(),
  options: z.array(z.string()),
  multiSelect: z.boolean(),
  digest: z.string(),
  askedAt: z.string(),
  deadline: z.string().nullable(),
})

export const ShownTask = z.object({
  id: z.string(),
  name: z.string().nullable(),
  state: z.enum(taskStates),
  reason: z.object({ kind: z.string(), detail: z.string().optional() }).nullable().describe('why it is in that state'),
  agent: z.string(),
  session: z.string().describe('the conversation; send_message goes on with it'),
  prompt: z.string(),
  proof: z.string().describe('"verified" if checks have shown that the work is done, "reported" if only the agent says so'),
  current: z.string().nullable().describe('what the agent does right now'),
  resumeAt: z.string().nullable(),
  createdAt: z.string(),
  updatedAt: z.string(),
  endedAt: z.string().nullable(),
  result: z
    .object({
      outcome: z.string(),
      text: z.string(),
      summary: z.string().optional(),
      verified: z.boolean(),
      costUsd: z.number().nullable(),
    })
    .nullable(),
})
export type ShownTask = z.infer<typeof ShownTask>

export const ShownWithQuestions = ShownTask.extend({
  questions: z.array(ShownQuestion).describe('what waits for an answer; answer_question answers it'),
})

const promptShown = 2_000

export function shownTask(task: TaskSummary, { who }: Pick<Call, 'who'>): ShownTask {
  const seen = seesDetail(who.standing) ? task : withoutDetail(task)
  return ShownTask.parse({ ...seen, prompt: seen.prompt.slice(0, promptShown) })
}

export const shownWithQuestions = (task: TaskView, call: Pick<Call, 'who'>): z.infer<typeof ShownWithQuestions> => ({
  ...shownTask(task, call),
  questions: openQuestions(task).map((question) => ShownQuestion.parse(question)),
})

export const openQuestions = (task: TaskView): QuestionView[] => task.questions.filter(({ state }) => state === 'pending')

/** Nothing happens to it until somebody or some time says so. */
export const rests = (task: TaskSummary) => isAtRest(task.state, task.reason)

/** True if it ended otherwise than with what was asked for. */
export const wentWrong = ({ state }: Pick<TaskSummary, 'state'>) => isEnded(state) && state !== 'completed'

/** The id of a task as somebody gave it. */
export function taskIdOf(text: string): string {
  const parsed = TaskId.safeParse(text)
  if (!parsed.success) throw invalid(`"${text.slice(0, 80)}" is not the id of a task; list_tasks shows them.`)
  return parsed.data
}

/** The result in words: what the agent answered, or why there is nothing yet. */
export function inWords(task: z.infer<typeof ShownWithQuestions>): string {
  const { id, state, reason, result, questions } = task
  if (questions.length > 0)
    return `Task ${id} waits for an answer:\n${questions.map((one) => `- ${one.id}: ${one.text}${one.options.length > 0 ? ` (${one.options.join(' | ')})` : ''}`).join('\n')}`
  if (result && isEnded(state) && shortfallOf(task) === undefined)
    return wentWrong(task) ? `Task ${id} ended as ${state}${because(reason)}.\n${result.text}` : result.text
  return `Task ${id} is ${state}${because(reason)}.${result ? `\n${replyOf({ result, reason })}` : ''}`
}
const because = (reason: ShownTask['reason']) => (reason ? ` (${reason.kind}${reason.detail ? `: ${reason.detail}` : ''})` : '')
