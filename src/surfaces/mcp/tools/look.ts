import { z } from 'zod'
import { eventWithoutDetail, seesDetail, withoutDetail } from '../../../domain/auth/detail.ts'
import { RunId, SessionId, TaskId } from '../../../domain/id.ts'
import { taskStates } from '../../../domain/task/task.ts'
import { inWords, rests, ShownTask, ShownWithQuestions, shownTask, shownWithQuestions } from '../task-shape.ts'
import { defineTool } from '../tool.ts'
import { lineOf } from '../wait.ts'

const looks = { readOnlyHint: true, idempotentHint: true }

export const listTasks = defineTool({
  name: 'list_tasks',
  title: 'List tasks',
  description: 'Lists tasks, newest first, narrowed by what is given.',
  rights: ['read'],
  input: z.object({
    states: z.array(z.enum(taskStates)).optional(),
    agent: z.string().max(100).optional(),
    tag: z.string().max(100).optional(),
    text: z.string().max(200).optional().describe('words of the prompt or the name'),
    session: SessionId.optional(),
    parent: TaskId.optional().describe('only subtasks of this task'),
    limit: z.number().int().min(1).max(100).default(20),
    cursor: z.string().max(500).optional().describe('the "next" of an earlier list'),
  }),
  output: z.object({ tasks: z.array(ShownTask), next: z.string().nullable() }),
  hints: looks,
  async run(filter, call) {
    const { items, next } = await call.runtime.listTasks(filter)
    return { tasks: items.map((task) => shownTask(task, call)), next }
  },
})

export const getTask = defineTool({
  name: 'get_task',
  title: 'Look at a task',
  description: 'Shows one task with its runs and what it asks.',
  rights: ['read'],
  input: z.object({ task: TaskId }),
  output: z.object({
    task: ShownWithQuestions,
    runs: z.array(
      z.object({
        id: z.string(),
        attempt: z.number(),
        state: z.string(),
        outcome: z.string().nullable(),
        agent: z.string(),
        message: z.string().nullable(),
        costUsd: z.number().nullable(),
        startedAt: z.string().nullable(),
        endedAt: z.string().nullable(),
      }),
    ),
    subtasks: z.array(z.object({ id: z.string(), name: z.string().nullable(), state: z.string() })),
  }),
  hints: looks,
  async run({ task }, call) {
    const found = await call.runtime.getTask(task)
    const { runs, subtasks } = seesDetail(call.who.standing) ? found : withoutDetail(found)
    return { task: shownWithQuestions(found, call), runs, subtasks }
  },
})

export const readResult = defineTool({
  name: 'read_result',
  title: 'Read the result of a task',
  description: 'Reads what the agent answered, in full, whether it has been verified, and what it has cost.',
  rights: ['read'],
  input: z.object({ task: TaskId }),
  output: z.object({ task: ShownWithQuestions, done: z.boolean() }),
  hints: looks,
  async run({ task }, call) {
    const found = await call.runtime.getTask(task)
    return { task: shownWithQuestions(found, call), done: rests(found) }
  },
  inWords: ({ task }) => inWords(task),
})

export const readLog = defineTool({
  name: 'read_log',
  title: 'Read what happened',
  description: 'Reads the events of a task, oldest first, one line each.',
  rights: ['read'],
  input: z.object({
    task: TaskId,
    after: z.number().int().min(0).default(0).describe('only events with a higher number'),
    limit: z.number().int().min(1).max(500).default(100),
  }),
  output: z.object({
    events: z.array(z.object({ seq: z.number(), at: z.string(), line: z.string() })),
    next: z.number().nullable().describe('goes on here as "after"; null if these were the last'),
  }),
  hints: looks,
  async run({ task, after, limit }, call) {
    const found = await call.runtime.readEvents(task, { after, limit: limit + 1 })
    const shown = seesDetail(call.who.standing) ? found : found.map(eventWithoutDetail)
    const events = shown.slice(0, limit).map((event) => ({ seq: event.seq, at: event.at, line: lineOf(event) }))
    return { events, next: found.length > limit ? (events.at(-1)?.seq ?? null) : null }
  },
  inWords: ({ events }) => events.map(({ seq, at, line }) => `${seq} ${at} ${line}`).join('\n') || 'Nothing has happened yet.',
})

const diffShown = 200_000

export const readChanges = defineTool({
  name: 'read_changes',
  title: 'Read what a task changed',
  description: 'Lists the files that a task has changed, with the difference as git writes it.',
  rights: ['read'],
  input: z.object({
    task: TaskId,
    run: RunId.optional().describe('only of this run'),
    path: z.string().max(4096).optional().describe('only of this file'),
    withDiff: z.boolean().default(true),
  }),
  output: z.object({
    files: z.array(z.object({ path: z.string(), status: z.string() })),
    diff: z.string(),
    isCut: z.boolean().describe('true if the difference is longer; ask for one file'),
  }),
  hints: looks,
  async run({ task, run, path, withDiff }, call) {
    const changes = await call.runtime.listChanges(task)
    const which = { ...(run === undefined ? {} : { run }), ...(path === undefined ? {} : { path }) }
    const diff = withDiff ? await call.runtime.readDiff(task, which) : ''
    return { files: changes.files, diff: diff.slice(0, diffShown), isCut: diff.length > diffShown }
  },
  inWords: ({ files, diff }) =>
    files.length === 0
      ? 'It has changed no files.'
      : `${files.map((file) => `${file.status} ${file.path}`).join('\n')}\n\n${diff}`,
})

export const listAgents = defineTool({
  name: 'list_agents',
  title: 'List agents',
  description: 'Lists the agents that tasks can be given to, and whether each can work right now.',
  rights: ['read'],
  input: z.object({}),
  output: z.object({
    agents: z.array(
      z.object({
        name: z.string(),
        program: z.string(),
        model: z.string().nullable(),
        profile: z.string(),
        isDefault: z.boolean(),
        healthy: z.boolean(),
        detail: z.string(),
      }),
    ),
  }),
  hints: looks,
  async run(_, call) {
    const agents = await call.runtime.listAgents()
    return {
      agents: agents.map(({ name, title, model, profile, isDefault, health }) => ({
        name,
        program: title,
        model,
        profile,
        isDefault,
        healthy: health.healthy,
        detail: health.detail,
      })),
    }
  },
})
