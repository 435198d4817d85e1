import {
  type ListResourcesResult,
  type ReadResourceResult,
  type Resource,
  ResourceNotFoundError,
  type ResourceTemplateType,
} from '@modelcontextprotocol/server'
import { eventWithoutDetail, seesDetail, withoutDetail } from '../../domain/auth/detail.ts'
import { PawlError } from '../../domain/error.ts'
import type { TaskSummary } from '../../domain/view/view.ts'
import { assertMay, type Call } from './call.ts'
import { shownWithQuestions } from './task-shape.ts'
import { lineOf } from './wait.ts'

export const taskUri = (id: string, part?: TaskPart) => `pawl://tasks/${id}${part ? `/${part}` : ''}`
const parts = ['log', 'result', 'diff'] as const
export type TaskPart = (typeof parts)[number]

const address = /^pawl:\/\/tasks\/([^/?#]+)(?:\/(log|result|diff))?$/

const fixed: Resource[] = [
  {
    uri: 'pawl://questions',
    name: 'questions',
    title: 'Open questions',
    description: 'What agents have asked and nobody has answered yet.',
    mimeType: 'application/json',
  },
  {
    uri: 'pawl://agents',
    name: 'agents',
    title: 'Agents',
    description: 'The agents that tasks can be given to.',
    mimeType: 'application/json',
  },
]

export const resourceTemplates: ResourceTemplateType[] = [
  ['task', 'pawl://tasks/{task}', 'Task', 'One task: its state, its questions and its result.', 'application/json'],
  ['task-log', 'pawl://tasks/{task}/log', 'Log of a task', 'What happened to it, one event per line.', 'text/plain'],
  ['task-result', 'pawl://tasks/{task}/result', 'Result of a task', 'What its agent answered.', 'text/markdown'],
  ['task-diff', 'pawl://tasks/{task}/diff', 'Changes of a task', 'What it changed, as git writes it.', 'text/x-diff'],
].map(([name, uriTemplate, title, description, mimeType]) => ({
  name: name!,
  uriTemplate: uriTemplate!,
  title: title!,
  description: description!,
  mimeType: mimeType!,
}))

export async function listResources(call: Call, cursor: string | undefined): Promise<ListResourcesResult> {
  assertMay('read', call.who)
  const { items, next } = await call.runtime.listTasks({ limit: 50, cursor })
  return {
    resources: [...(cursor === undefined ? fixed : []), ...items.map(asResource)],
    ...(next === null ? {} : { nextCursor: next }),
  }
}

const asResource = (task: TaskSummary): Resource => ({
  uri: taskUri(task.id),
  name: task.id,
  title: task.name ?? task.prompt.slice(0, 80),
  description: `${task.state}, by ${task.agent}`,
  mimeType: 'application/json',
  annotations: { lastModified: task.updatedAt },
})

/** The newest so many lines of a log; the rest is read with the tool. */
const eventsShown = 2_000

export async function readResource(call: Call, uri: string): Promise<ReadResourceResult> {
  assertMay('read', call.who)
  const text = (mimeType: string, content: string): ReadResourceResult => ({ contents: [{ uri, mimeType, text: content }] })
  const json = (value: unknown) => text('application/json', JSON.stringify(value, undefined, 2))
  if (uri === 'pawl://questions') return json(await call.runtime.listQuestions({ state: 'pending' }))
  if (uri === 'pawl://agents') return json(await call.runtime.listAgents())
  const [, id, part] = address.exec(uri) ?? []
  if (id === undefined) throw new ResourceNotFoundError(uri)
  try {
    switch (part as TaskPart | undefined) {
      case 'log':
        return text('text/plain', await readLog(call, id))
      case 'diff':
        return text('text/x-diff', await call.runtime.readDiff(id, {}))
      case 'result': {
        const task = await call.runtime.getTask(id)
        const { result, reason, state } = seesDetail(call.who.standing) ? task : withoutDetail(task)
        return text(
          'text/markdown',
          result?.text ?? `There is no result yet: the task is ${state}${reason ? ` (${reason.kind})` : ''}.`,
        )
      }
      case undefined:
        return json(shownWithQuestions(await call.runtime.getTask(id), call))
    }
  } catch (error) {
    if (error instanceof PawlError && error.code === 'not_found') throw new ResourceNotFoundError(uri, error.message)
    throw error
  }
}

async function readLog({ runtime, who }: Call, id: string): Promise<string> {
  const lines: string[] = []
  for (let after = 0; ; ) {
    const events = await runtime.readEvents(id, { after, limit: 500 })
    const shown = seesDetail(who.standing) ? events : events.map(eventWithoutDetail)
    for (const event of shown) lines.push(`${event.seq} ${event.at} ${lineOf(event)}`)
    const last = events.at(-1)
    if (events.length < 500 || !last) break
    after = last.seq
  }
  return lines.slice(-eventsShown).join('\n')
}
