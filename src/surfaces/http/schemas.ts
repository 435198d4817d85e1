import { z } from '@hono/zod-openapi'
import { didYouMean } from '../../domain/base/nearest.ts'
import { unkeepable } from '../../domain/base/unkeepable.ts'
import { Envelope, type Event, eventData, eventTypes } from '../../domain/event/event.ts'
import {
  AgentView,
  HealthView,
  NewSession,
  NewTask,
  NewTasks,
  QuestionView,
  SessionAdoption,
  SessionChoice,
  SessionStop,
  SessionSummary,
  SessionView,
  TaskEdit,
  TaskRetry,
  TaskSummary,
  TaskView,
} from '../../domain/view/view.ts'
import { Problem } from './errors.ts'

/**
 * The domain's shapes under the names the OpenAPI document gives them. They are built again from their fields because the
 * naming method exists only on schemas made after this library was loaded.
 */
export const schemas = {
  NewTask: strict(NewTask.shape).openapi('NewTask'),
  NewTasks: strict({ tasks: z.array(strict(NewTasks.shape.tasks.element.shape)).min(1).max(1_000) }).openapi('NewTasks'),
  TaskEdit: strict(TaskEdit.shape).openapi('TaskEdit'),
  TaskRetry: strict(TaskRetry.shape).openapi('TaskRetry'),
  Task: z.object(TaskView.shape).openapi('Task'),
  TaskSummary: z.object(TaskSummary.shape).openapi('TaskSummary'),
  SessionSummary: z.object(SessionSummary.shape).openapi('SessionSummary'),
  Session: z.object(SessionView.shape).openapi('Session'),
  NewSession: strict(NewSession.shape).openapi('NewSession'),
  SessionAdoption: strict(SessionAdoption.shape).openapi('SessionAdoption'),
  SessionChoice: strict(SessionChoice.shape).openapi('SessionChoice'),
  SessionStop: z.object(SessionStop.shape).openapi('SessionStop'),
  Question: z.object(QuestionView.shape).openapi('Question'),
  Agent: z.object(AgentView.shape).openapi('Agent'),
  Health: z.object(HealthView.shape).openapi('Health'),
  Event: eventSchema().openapi('Event'),
  Problem: z.object(Problem.shape).openapi('Problem'),
}

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().nullable().describe('Give it back to get what follows; null at the end.') })

/** A body of a megabyte can have a hundred thousand unknown keys; to look for what each may have meant takes minutes. */
const mostNamed = 10

/** An object that refuses a key it does not know, by name and with the nearest known one, and text that no database can keep. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  const unknownKeys = (keys: readonly string[]) =>
    keys
      .slice(0, mostNamed)
      .map((key) => `"${key.slice(0, 100)}" is not known here${didYouMean(key.slice(0, 100), known)}`)
      .join(' ')
  return z
    .strictObject(shape, { error: (issue) => (issue.code === 'unrecognized_keys' ? unknownKeys(issue.keys) : undefined) })
    .superRefine((value, context) => {
      for (const { path, message } of unkeepable(value)) context.addIssue({ code: 'custom', path, message })
    })
}

export const json = <T extends z.ZodType>(schema: T, description: string) => ({
  description,
  content: { 'application/json': { schema } },
})

/** Every route may answer with a problem; the statuses are one table in errors.ts. */
export const problems = {
  default: { description: 'A refusal.', content: { 'application/problem+json': { schema: schemas.Problem } } },
}

function eventSchema(): z.ZodType<Event> {
  const [first, ...rest] = eventTypes.map((type) => z.object({ ...Envelope.shape, type: z.literal(type), data: eventData[type] }))
  // The compiler cannot see that the list built from the table covers every member of the union that is derived from it.
  return z.discriminatedUnion('type', [first!, ...rest]) as unknown as z.ZodType<Event>
}
