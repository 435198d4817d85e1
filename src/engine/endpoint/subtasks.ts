import type { IncomingMessage } from 'node:http'
import { z } from 'zod'
import { denied, invalid } from '../../domain/error.ts'
import { SubtaskAsked, type SubtaskVerbs } from '../../domain/task/subtask.ts'
import { readBody } from './body.ts'
import type { Route } from './routes.ts'

/** The routes by which the agent of a run splits its own task. Every one of them is about that task; there is no way to name another. */
export const subtaskRoutes = ['GET /v1/task', 'GET /v1/subtasks', 'GET /v1/subtasks/ID', 'POST /v1/subtasks', 'POST /api/tasks']

export function subtaskRoute(method: string, path: string, verbs: SubtaskVerbs): Route | undefined {
  const one = /^\/v1\/subtasks\/([^/]{1,100})$/.exec(path)?.[1]
  if (method === 'GET' && one !== undefined) return async () => ok(await verbs.get(one))
  switch (`${method} ${path}`) {
    case 'GET /v1/task':
      return async () => ok(await verbs.own())
    case 'GET /v1/subtasks':
      return async () => ok({ items: await verbs.list() })
    case 'POST /v1/subtasks':
      return async (request) => made(await verbs.create(await readBody(request, SubtaskAsked, 'subtask'), keyOf(request)))
    case 'POST /api/tasks':
      return async (request, { describe }) => {
        const { parent, asked } = translated(await readBody(request, RunnerTask, 'task'))
        if (parent !== undefined && parent !== ownTask && parent !== describe().task)
          throw denied(`A run can make subtasks of its own task only; leave the parent out, or name "${ownTask}".`)
        return made(await verbs.create(asked, keyOf(request)))
      }
    default:
      return undefined
  }
}

/** Names the task of the run that holds the door, whichever it is. */
export const ownTask = 'current'

const ok = (body: unknown) => ({ status: 200, body })
const made = ({ subtask, created }: Awaited<ReturnType<SubtaskVerbs['create']>>) => ({
  status: created ? 201 : 200,
  body: subtask,
})

function keyOf(request: IncomingMessage): string | undefined {
  const key = request.headers['idempotency-key']
  if (key === undefined) return undefined
  if (typeof key !== 'string' || !/^[\x21-\x7e]{1,255}$/.test(key))
    throw invalid('An Idempotency-Key has 1 to 255 visible ASCII characters.')
  return key
}

const AgentBlock = z.object({
  instructions: z.string(),
  model: z.string().optional(),
  max_budget_usd: z.number().nonnegative().optional(),
  skip_planning: z.boolean().optional(),
})

/** How a task is written for Claudomator. What its agent block says of tools, permissions and folders is not an agent's to decide here: those are its own task's. */
const RunnerTask = z.looseObject({
  name: z.string().optional(),
  description: z.string().optional(),
  parent_id: z.string().optional(),
  parent_task_id: z.string().optional(),
  tags: z.array(z.string()).optional(),
  depends_on: z.array(z.string()).optional(),
})

function translated(task: z.infer<typeof RunnerTask>): { parent: string | undefined; asked: SubtaskAsked } {
  // The block is called `agent`, or by the name of the agent's program.
  const block = [task.agent, ...Object.values(task)].map((value) => AgentBlock.safeParse(value)).find(({ success }) => success)
  const agent: Partial<z.infer<typeof AgentBlock>> = block?.data ?? {}
  const parsed = SubtaskAsked.safeParse({
    prompt: agent.instructions ?? task.description ?? '',
    name: task.name,
    model: agent.model || undefined,
    tags: task.tags,
    dependsOn: task.depends_on,
    budgetUsd: agent.max_budget_usd || undefined,
    skipPlanning: agent.skip_planning,
  })
  if (parsed.success) return { parent: task.parent_task_id ?? task.parent_id, asked: parsed.data }
  const faults = parsed.error.issues.map((issue) => `${fieldOf(issue.path)}: ${issue.message}`)
  throw invalid(faults.join('; '))
}

/** As the sender calls it. */
const fieldOf = ([key]: readonly PropertyKey[]) =>
  ({ prompt: 'agent.instructions', model: 'agent.model', budgetUsd: 'agent.max_budget_usd', dependsOn: 'depends_on' })[
    String(key)
  ] ?? String(key)
