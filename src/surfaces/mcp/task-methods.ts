import {
  MissingRequiredClientCapabilityError,
  ProtocolError,
  ProtocolErrorCode,
  RELATED_TASK_META_KEY,
  type Result,
  type Server,
  type ServerContext,
} from '@modelcontextprotocol/server'
import { z } from 'zod'
import { mayUse } from '../../domain/auth/role.ts'
import { PawlError } from '../../domain/error.ts'
import { isEnded } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import { answerWith } from './ask-through.ts'
import { assertMay, type Call, type Era } from './call.ts'
import { formOf } from './elicitation.ts'
import { detailedTask, legacyTask, modernTask, resultOf, statusOf } from './mcp-task.ts'
import { openQuestions, rests, taskIdOf } from './task-shape.ts'
import { waitForRest } from './wait.ts'

export const tasksExtension = 'io.modelcontextprotocol/tasks'

/** Tasks that are none of Pawl's, which the conformance suite asks for. True if the task is one of theirs. */
export interface OtherTasks {
  has(id: string): boolean
  get(id: string): Result
  update(id: string, responses: Readonly<Record<string, unknown>>): void
  cancel(id: string): void
}

/** The result of a call that goes on as a task. */
export async function taskResult(call: Call, id: string): Promise<Result> {
  const task = await call.runtime.getTask(id)
  return call.era === 'modern' ? { resultType: 'task', ...modernTask(task) } : { task: legacyTask(task) }
}

/** Adds the methods of tasks as the era has them. Each looks at our task, so they go on after a restart as if there had been none. */
export function addTaskMethods(server: Server, era: Era, callFor: (ctx: ServerContext) => Call, others?: OtherTasks): void {
  const Named = z.looseObject({ taskId: z.string() })
  const handle = (method: string, work: (taskId: string, call: Call) => Promise<Result>) =>
    server.setRequestHandler(method, { params: Named }, ({ taskId }, ctx) => {
      const call = callFor(ctx)
      if (era === 'modern' && !call.takesTask)
        throw new MissingRequiredClientCapabilityError({ requiredCapabilities: { extensions: { [tasksExtension]: {} } } })
      return said(() => work(taskId, call))
    })

  if (era === 'modern') {
    handle('tasks/get', async (id, call) => (others?.has(id) ? others.get(id) : detailedTask(await read(id, call), call)))
    handle('tasks/update', async (id, call) => {
      const responses = call.ctx.mcpReq.inputResponses ?? {}
      if (others?.has(id)) others.update(id, responses)
      else {
        assertMay('work', call.who)
        const task = await read(id, call)
        for (const [question, response] of Object.entries(responses)) await answerWith(call, task.id, question, response)
      }
      return {}
    })
    handle('tasks/cancel', async (id, call) => {
      if (others?.has(id)) others.cancel(id)
      else await cancel(id, call)
      return {}
    })
    return
  }
  handle('tasks/get', async (id, call) => legacyTask(await read(id, call)))
  handle('tasks/cancel', async (id, call) => {
    if (isEnded((await read(id, call)).state))
      throw new ProtocolError(ProtocolErrorCode.InvalidParams, `Task ${id} has ended; there is nothing to cancel.`)
    return legacyTask(await cancel(id, call))
  })
  handle('tasks/result', async (id, call) => ({
    ...resultOf(await outcome(id, call), call),
    _meta: { [RELATED_TASK_META_KEY]: { taskId: id } },
  }))
  server.setRequestHandler(
    'tasks/list',
    { params: z.looseObject({ cursor: z.string().optional() }).optional() },
    (params, ctx) => {
      const { runtime, who } = callFor(ctx)
      return said(async () => {
        assertMay('read', who)
        const { items, next } = await runtime.listTasks({ limit: 50, cursor: params?.cursor })
        return { tasks: items.map(legacyTask), ...(next === null ? {} : { nextCursor: next }) }
      })
    },
  )
}

async function read(id: string, { runtime, who }: Call): Promise<TaskView> {
  assertMay('read', who)
  return runtime.getTask(taskIdOf(id))
}

async function cancel(id: string, { runtime, who }: Call): Promise<TaskView> {
  assertMay('work', who)
  return runtime.cancelTask(taskIdOf(id), { ...who.caller, now: false })
}

/** Long enough for anything; whoever waits hears of it in between and may come again. */
const dayS = 86_400

/** Waits for the end of a task. What it asks meanwhile is put to the person at the client, if they can be asked; if not, somebody else will answer. */
async function outcome(id: string, call: Call): Promise<TaskView> {
  let task = await read(id, call)
  const refused = new Set<string>()
  while (!isEnded(task.state)) {
    if (call.ctx.mcpReq.signal.aborted) return task
    const open = openQuestions(task).find((question) => !refused.has(question.id))
    if (open && statusOf(task, 'legacy') === 'input_required' && call.canElicit && mayUse('work', call.who.standing)) {
      const response = await call.ctx.mcpReq.elicitInput({ ...formOf(open), _meta: { [RELATED_TASK_META_KEY]: { taskId: id } } })
      if (!(await answerWith(call, task.id, open.id, response))) refused.add(open.id)
      task = await read(id, call)
      continue
    }
    if (rests(task)) await nextMove(call, id)
    task = await waitForRest(call, task.id, dayS)
  }
  return task
}

/** Waits until anything happens to a task that rests. */
async function nextMove({ runtime, ctx }: Call, id: string): Promise<void> {
  for await (const { events } of runtime.followFeed({ task: id, signal: ctx.mcpReq.signal })) if (events.length > 0) return
}

/** A refusal of ours as an error of the protocol. */
async function said<T>(work: () => Promise<T>): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (!(error instanceof PawlError) || error.code === 'internal') throw error
    throw new ProtocolError(ProtocolErrorCode.InvalidParams, error.message)
  }
}
