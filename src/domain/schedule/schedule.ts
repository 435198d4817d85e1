import { z } from 'zod'
import { PawlError } from '../error.ts'
import { Name, ScheduleId, SessionId, TaskId } from '../id.ts'
import { taskStates } from '../task/task.ts'
import { NewTask } from '../view/view.ts'
import { parseCron } from './cron.ts'
import { assertTimeZone } from './time-zone.ts'

const Time = z.iso.datetime({ offset: true })

/** What another part refuses with a sentence, as a complaint about the field. */
const readable = (read: (text: string) => unknown) => (text: string, context: z.RefinementCtx) => {
  try {
    read(text)
  } catch (error) {
    if (!(error instanceof PawlError)) throw error
    context.addIssue({ code: 'custom', message: error.message })
  }
}

/** The longest that a time of rest or an interval may be: a year. */
const longestMs = 366 * 86_400_000

/** When a schedule is due. */
export const When = z.discriminatedUnion('kind', [
  z.strictObject({
    kind: z.literal('cron'),
    expression: z.string().min(1).max(200).superRefine(readable(parseCron)).describe('Five fields, or a word such as @daily.'),
    timeZone: z.string().min(1).max(64).superRefine(readable(assertTimeZone)).describe('As in "Europe/Berlin".'),
  }),
  z.strictObject({ kind: z.literal('every'), everyMs: z.number().int().min(1_000).max(longestMs) }),
  z.strictObject({ kind: z.literal('at'), at: Time.describe('Once, at this moment.') }),
  z.strictObject({
    kind: z.literal('idle'),
    idleMs: z
      .number()
      .int()
      .min(1_000)
      .max(longestMs)
      .describe('When nothing has been queued or run for so long, again and again.'),
    of: z
      .enum(['agent', 'session'])
      .default('agent')
      .describe('Whose rest counts: that of the agent, or of the schedule’s own conversation.'),
  }),
  z.strictObject({ kind: z.literal('initial') }).describe('Once, as soon as a daemon sees it.'),
])
export type When = z.infer<typeof When>

export const overlaps = ['skip', 'queue', 'cancel'] as const
export const catchUps = ['none', 'one', 'all'] as const

/** The task that each tick makes. What depends on the moment of asking has no place in it. */
export const TaskTemplate = NewTask.omit({
  ...({ attended: true, parent: true, dependsOn: true, acceptPartial: true, resetSession: true, attachments: true } as const),
})
export type TaskTemplate = z.infer<typeof TaskTemplate>

const parts = {
  when: When,
  session: z.enum(['new', 'keep']).describe('A new conversation each time, or one that goes on.'),
  overlap: z
    .enum(overlaps)
    .describe('If the task of an earlier tick has not ended: leave this one out, let it wait, or cancel the earlier one.'),
  catchUp: z.enum(catchUps).describe('Of times that passed while no daemon ran: none, the last one, or all (at most 100).'),
  jitterMs: z
    .number()
    .int()
    .min(0)
    .max(86_400_000)
    .describe('Each tick is fired so much later at most; always the same for the same tick.'),
}

export const NewSchedule = z.strictObject({
  name: Name.optional().describe('What people call it; no two have the same.'),
  when: parts.when,
  task: TaskTemplate,
  session: parts.session.default('new'),
  overlap: parts.overlap.default('skip'),
  catchUp: parts.catchUp.default('one'),
  jitterMs: parts.jitterMs.default(0),
})
export type NewSchedule = z.infer<typeof NewSchedule>

export const ScheduleChanges = z.strictObject({
  name: Name.optional(),
  when: parts.when.optional(),
  task: TaskTemplate.partial().optional().describe('Only what changes of it.'),
  session: parts.session.optional(),
  overlap: parts.overlap.optional(),
  catchUp: parts.catchUp.optional(),
  jitterMs: parts.jitterMs.optional(),
})
export type ScheduleChanges = z.infer<typeof ScheduleChanges>

export const scheduleStates = ['active', 'paused', 'done'] as const
export type ScheduleState = (typeof scheduleStates)[number]

/** A tick waits until its task is made, runs until that has ended, and then tells how. */
export const tickStates = ['waiting', 'running', 'succeeded', 'empty', 'failed', 'cancelled', 'skipped', 'missed'] as const
export type TickState = (typeof tickStates)[number]

export const TickView = z.object({
  dueAt: Time,
  firedAt: Time,
  endedAt: Time.nullable(),
  state: z.enum(tickStates),
  detail: z.string().nullable().describe('Why it is so.'),
  manual: z.boolean().describe('Somebody asked for it out of turn.'),
  task: TaskId.nullable(),
  taskState: z.enum(taskStates).nullable(),
})
export type TickView = z.infer<typeof TickView>

export const ScheduleHealth = z.object({
  healthy: z.boolean(),
  failedInARow: z
    .number()
    .int()
    .describe('Ticks that failed or brought nothing, without one that did well between or after them.'),
  detail: z.string().nullable().describe('What went wrong last.'),
})
export type ScheduleHealth = z.infer<typeof ScheduleHealth>

export const ScheduleSummary = z.object({
  id: ScheduleId,
  name: z.string().nullable(),
  state: z.enum(scheduleStates),
  when: When,
  says: z.string().describe('When it is due, in words.'),
  agent: z.string().nullable().describe('Null for the daemon’s default agent.'),
  prompt: z.string().describe('In lists, only the first 200 characters.'),
  session: z.enum(['new', 'keep']),
  overlap: z.enum(overlaps),
  catchUp: z.enum(catchUps),
  jitterMs: z.number(),
  nextAt: Time.nullable(),
  lastTick: TickView.nullable(),
  health: ScheduleHealth,
  user: z.string(),
  source: z.string().nullable().describe('The settings that it comes from; null if somebody made it by command.'),
  createdAt: Time,
  updatedAt: Time,
})
export type ScheduleSummary = z.infer<typeof ScheduleSummary>

export const ScheduleView = ScheduleSummary.extend({
  workspace: z.string().nullable(),
  model: z.string().nullable().describe('Null for that of the agent.'),
  profile: z.string().nullable().describe('Null for that of the agent.'),
  sessionId: SessionId.nullable().describe('The conversation that its ticks go on with.'),
  next: z.array(z.object({ at: Time, local: z.string() })).describe('The next five times, also as clocks of its zone show them.'),
  ticks: z.array(TickView).describe('Newest first, at most 100.'),
})
export type ScheduleView = z.infer<typeof ScheduleView>
