import { z } from 'zod'
import { traceContextOf } from '../../../domain/base/trace-context.ts'
import { SessionId, TaskId } from '../../../domain/id.ts'
import { NewTask, type TaskView } from '../../../domain/view/view.ts'
import type { Call } from '../call.ts'

/** What may be said of a new task here; the rest of what Pawl knows of tasks is for its own settings and API. */
export const newTaskFields = {
  prompt: z.string().min(1).describe('what the agent should do, with everything it must know'),
  agent: NewTask.shape.agent.describe('which agent does it (list_agents); the default one if left out'),
  workspace: NewTask.shape.workspace.describe(
    'absolute path of the folder to work in; left out, that of the session or an empty folder of its own',
  ),
  session: SessionId.optional().describe('goes on with this conversation'),
  name: NewTask.shape.name.describe('what people call it'),
  model: NewTask.shape.model,
  profile: NewTask.shape.profile.describe('what its runs may see and do; that of the agent if left out'),
  priority: z.enum(['high', 'normal', 'low']).optional(),
  tags: NewTask.shape.tags,
  budgetUsd: z.number().positive().optional().describe('stops when so much was spent'),
  timeoutSeconds: z.number().int().positive().optional().describe('total time of one run'),
  review: NewTask.shape.review.describe('a person accepts the work before it counts as completed'),
  dependsOn: z.array(TaskId).max(100).optional().describe('tasks that must be completed first'),
  acceptPartial: NewTask.shape.acceptPartial.describe(
    'begin also after one of them that did only a part of its work, or said nothing; otherwise a person decides',
  ),
  idempotencyKey: z
    .string()
    .regex(/^[\x21-\x7e]{1,255}$/, '1 to 255 visible ASCII characters')
    .optional()
    .describe('the same key with the same arguments gives the same task, however often it is sent'),
}
const Fields = z.object(newTaskFields)

/** Makes the task; durable when this resolves. */
export async function makeTask(fields: z.infer<typeof Fields>, call: Call): Promise<{ task: TaskView; created: boolean }> {
  const { idempotencyKey, budgetUsd, timeoutSeconds, workspace, ...rest } = fields
  const place = workspace ?? (rest.session === undefined ? call.workspace : undefined)
  const asked = NewTask.parse({
    ...rest,
    ...(place === undefined ? {} : { workspace: place }),
    ...(call.allowHome && (place === undefined || place === call.workspace) ? { allowHome: true } : {}),
    ...(budgetUsd === undefined ? {} : { budget: { usd: budgetUsd } }),
    ...(timeoutSeconds === undefined ? {} : { timeoutMs: timeoutSeconds * 1_000 }),
  })
  const made = await call.runtime.createTask(asked, {
    ...call.who.caller,
    trace: traceContextOf(call.ctx.mcpReq._meta) ?? traceContextOf(call.ctx.http?.req?.headers),
    ...(idempotencyKey === undefined ? {} : { idempotencyKey }),
  })
  await call.adopt?.(made.task.id)
  return made
}
