import { z } from '@hono/zod-openapi'
import { Envelope, type Event, eventData, eventTypes } from '../../domain/event.ts'
import { didYouMean } from '../../domain/nearest.ts'
import { AgentView, HealthView, NewTask, QuestionView, TaskSummary, TaskView } from '../../domain/view.ts'
import { Problem } from './errors.ts'

/**
 * The domain's shapes under the names the OpenAPI document gives them. They are built again from their fields because the
 * naming method exists only on schemas made after this library was loaded.
 */
export const schemas = {
  NewTask: strict(NewTask.shape).openapi('NewTask'),
  Task: z.object(TaskView.shape).openapi('Task'),
  TaskSummary: z.object(TaskSummary.shape).openapi('TaskSummary'),
  Question: z.object(QuestionView.shape).openapi('Question'),
  Agent: z.object(AgentView.shape).openapi('Agent'),
  Health: z.object(HealthView.shape).openapi('Health'),
  Event: eventSchema().openapi('Event'),
  Problem: z.object(Problem.shape).openapi('Problem'),
}

export const pageOf = <T extends z.ZodType>(item: T) =>
  z.object({ items: z.array(item), next: z.string().nullable().describe('Give it back to get what follows; null at the end.') })

/** An object that refuses a key it does not know, by name and with the nearest known one. */
export function strict<Shape extends z.ZodRawShape>(shape: Shape) {
  const known = Object.keys(shape)
  return z.strictObject(shape, {
    error: (issue) =>
      issue.code === 'unrecognized_keys'
        ? issue.keys.map((key) => `"${key.slice(0, 100)}" is not known here${didYouMean(key, known)}`).join(' ')
        : undefined,
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
