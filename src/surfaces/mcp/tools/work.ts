import { z } from 'zod'
import { mayUse } from '../../../domain/auth/role.ts'
import { invalid } from '../../../domain/error.ts'
import { SessionId, TaskId } from '../../../domain/id.ts'
import type { TaskView } from '../../../domain/view/view.ts'
import { askThrough, takeAnswers } from '../ask-through.ts'
import type { Call, RunState } from '../call.ts'
import {
  inWords,
  openQuestions,
  rests,
  ShownTask,
  ShownWithQuestions,
  shownTask,
  shownWithQuestions,
  taskIdOf,
  wentWrong,
} from '../task-shape.ts'
import { defineTool } from '../tool.ts'
import { waitForRest } from '../wait.ts'
import { makeTask, newTaskFields } from './new-task.ts'

/** Most clients give up after a minute of silence. */
const waits = z.number().int().min(1).max(3_600).default(45)

export const createTask = defineTool({
  name: 'create_task',
  title: 'Hand in a task',
  description:
    'Hands in work for a coding agent and answers at once. The task is durable: it survives crashes and restarts, and its result is read later with wait_task or read_result.',
  rights: ['create'],
  input: z.object(newTaskFields),
  output: z.object({ task: ShownTask, created: z.boolean().describe('false if the idempotency key was seen before') }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run(args, call) {
    const { task, created } = await makeTask(args, call)
    return { task: shownTask(task, call), created }
  },
  inWords: ({ task }) => `Task ${task.id} is ${task.state}; wait_task waits for it.`,
})

const Waited = z.object({
  task: ShownWithQuestions,
  done: z.boolean().describe('false if it had not come to rest when the time was up; wait_task goes on waiting'),
})

export const runTask = defineTool({
  name: 'run_task',
  title: 'Have a task done',
  description:
    'Hands in work for a coding agent and answers with its result. Questions of the agent are put to the person at the client where that is possible. If it takes longer than waitSeconds, the task goes on and wait_task waits for it.',
  rights: ['create', 'read'],
  input: z.object({ ...newTaskFields, waitSeconds: waits }),
  output: Waited,
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  lasts: true,
  async run({ waitSeconds, ...fields }, call) {
    const state = call.ctx.mcpReq.requestState<RunState>()
    const isAnswered = state ? await takeAnswers(call, state) : true
    const id = state ? state.task : (await makeTask(fields, call)).task.id
    if (call.takesTask) return { taskInstead: id }
    return settle(call, await waitForRest(call, id, isAnswered ? waitSeconds : 1), isAnswered)
  },
  inWords: ({ task }) => inWords(task),
  isError: ({ task }) => wentWrong(task),
})

export const waitTask = defineTool({
  name: 'wait_task',
  title: 'Wait for a task',
  description:
    'Waits until a task has come to rest: completed, failed, cancelled, parked, in review, or asking something. Tells its progress meanwhile.',
  rights: ['read'],
  input: z.object({ task: TaskId, waitSeconds: waits }),
  output: Waited,
  hints: { readOnlyHint: true, idempotentHint: true },
  async run({ task, waitSeconds }, call) {
    await call.adopt?.(task)
    const state = call.ctx.mcpReq.requestState<RunState>()
    const isAnswered = state?.task === task ? await takeAnswers(call, state) : true
    return settle(call, await waitForRest(call, task, isAnswered ? waitSeconds : 1), isAnswered)
  },
  inWords: ({ task }) => inWords(task),
})

/** What the task has come to; its questions go to the person first, unless they would not answer. */
async function settle(call: Call, task: TaskView, mayAsk: boolean) {
  const questions = openQuestions(task)
  if (mayAsk && questions.length > 0 && rests(task) && call.canElicit && mayUse('work', call.who.standing))
    return askThrough(call, task, questions)
  return { task: shownWithQuestions(task, call), done: rests(task) }
}

export const sendMessage = defineTool({
  name: 'send_message',
  title: 'Go on with a conversation',
  description:
    'Sends a message into the conversation of an earlier task. It becomes the next task of that session, after what runs there now, and answers at once.',
  rights: ['create', 'read'],
  input: z.object({
    message: newTaskFields.prompt,
    session: SessionId.optional().describe('the conversation'),
    task: TaskId.optional().describe('or a task of it'),
    idempotencyKey: newTaskFields.idempotencyKey,
  }),
  output: z.object({ task: ShownTask, created: z.boolean() }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run({ message, session, task, idempotencyKey }, call) {
    if ((session === undefined) === (task === undefined)) throw invalid('Name the session or a task of it, one of the two.')
    const into = session ?? (await call.runtime.getTask(taskIdOf(task!))).session
    const { agent, workspace } = await call.runtime.getSession(into)
    const made = await makeTask({ prompt: message, session: into, agent, workspace, idempotencyKey }, call)
    return { task: shownTask(made.task, call), created: made.created }
  },
  inWords: ({ task }) => `Task ${task.id} is ${task.state}; wait_task waits for it.`,
})

export const cancelTask = defineTool({
  name: 'cancel_task',
  title: 'Stop a task',
  description: 'Stops a task and its subtasks. What was done stays; retry_task goes on with it. Stopping twice is fine.',
  rights: ['work'],
  input: z.object({ task: TaskId, now: z.boolean().default(false).describe('without giving the agent time to finish') }),
  output: z.object({ task: ShownTask }),
  hints: { readOnlyHint: false, destructiveHint: true, idempotentHint: true },
  async run({ task, now }, call) {
    return { task: shownTask(await call.runtime.cancelTask(task, { ...call.who.caller, now }), call) }
  },
  inWords: ({ task }) => `Task ${task.id} is ${task.state === 'running' ? 'being stopped' : task.state}.`,
})

export const retryTask = defineTool({
  name: 'retry_task',
  title: 'Try a task again',
  description: 'Queues a task that has come to rest once more; its conversation goes on, or begins anew.',
  rights: ['work'],
  input: z.object({ task: TaskId, fresh: z.boolean().default(false).describe('with a new conversation') }),
  output: z.object({ task: ShownTask }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run({ task, fresh }, call) {
    const queued = await call.runtime.retryTask(task, { ...call.who.caller, fresh })
    await call.adopt?.(task)
    return { task: shownTask(queued, call) }
  },
})

export const reviewTask = defineTool({
  name: 'review_task',
  title: 'Accept or send back',
  description: 'Accepts the work of a task that is in review, or sends it back to its agent with a comment.',
  rights: ['work'],
  input: z.object({
    task: TaskId,
    verdict: z.enum(['accept', 'reject']),
    comment: z.string().min(1).max(65_536).optional().describe('what is to be changed; needed to reject'),
  }),
  output: z.object({ task: ShownTask }),
  hints: { readOnlyHint: false, destructiveHint: false, idempotentHint: false },
  async run({ task, verdict, comment }, call) {
    if (verdict === 'accept') return { task: shownTask(await call.runtime.acceptTask(task, call.who.caller), call) }
    if (comment === undefined) throw invalid('Say in "comment" what is to be changed.')
    return { task: shownTask(await call.runtime.rejectTask(task, { ...call.who.caller, comment }), call) }
  },
})
