import { z } from 'zod'
import { messageOf, PawlError } from '../domain/error.ts'
import { Name } from '../domain/id.ts'
import { catchUps, type NewSchedule, overlaps } from '../domain/schedule/schedule.ts'
import { Duration, DurationLimit } from './duration.ts'
import { absolute } from './places.ts'
import { parseWhen } from './when.ts'

const text = z.string().min(1, { error: 'must not be empty' })

/** A task that comes again, as it is written. */
export const ScheduleEntry = z
  .strictObject({
    when: text.describe('"0 7 * * 1-5" or "@daily", "every 2h", "at 2026-05-01 09:00", "idle 30m", "initial".'),
    tz: text.optional().describe('Whose clocks count, as in Europe/Berlin; those of this machine if left out.'),
    prompt: text.describe('What the agent should do.'),
    agent: text.optional().describe('Which agent; the default one if left out.'),
    model: text.optional(),
    profile: text.optional().describe('What it may see and do; the profile of the agent if left out.'),
    workspace: text.optional().describe('Where it works, as seen from this file; a folder of its own if left out.'),
    timeout: DurationLimit.optional().describe('How long one run may take; 0 for no limit.'),
    tags: z.array(Name).max(50).optional(),
    session: z.enum(['new', 'keep']).optional().describe('A new conversation each time, or one that goes on.'),
    overlap: z
      .enum(overlaps)
      .optional()
      .describe('If the last one has not ended: leave this out, let it wait, or cancel the last one.'),
    catchUp: z.enum(catchUps).optional().describe('What is made up for after a time without a daemon.'),
    jitter: Duration.optional().describe('Each is fired up to so much later.'),
  })
  .superRefine(({ when, tz }, context) => {
    try {
      parseWhen(when, { timeZone: tz })
    } catch (error) {
      if (!(error instanceof PawlError)) throw error
      context.addIssue({
        code: 'custom',
        path: ['when'],
        message: `must name times that come. ${messageOf(error).replace(/\.$/, '')}`,
      })
    }
  })
export type ScheduleEntry = z.output<typeof ScheduleEntry>

/** Makes the workspace absolute, as seen from the file it stands in. */
export const placeSchedule = (entry: ScheduleEntry, folder: string, userHome: string | undefined): ScheduleEntry =>
  entry.workspace === undefined ? entry : { ...entry, workspace: absolute(entry.workspace, folder, userHome) }

export type SettledSchedule = NewSchedule & { readonly name: string }

/** The entries in the words of the domain. */
export const schedulesOf = (entries: Readonly<Record<string, ScheduleEntry>> | null | undefined): SettledSchedule[] =>
  Object.entries(entries ?? {}).map(([name, entry]) => {
    const { when, tz, prompt, agent, model, profile, workspace, timeout, tags } = entry
    const said = { agent, model, profile, workspace, tags, timeoutMs: timeout === null ? 0 : timeout }
    const given = Object.entries(said).filter(([, value]) => value !== undefined)
    return {
      name,
      when: parseWhen(when, { timeZone: tz }),
      task: { prompt, ...Object.fromEntries(given) },
      session: entry.session ?? 'new',
      overlap: entry.overlap ?? 'skip',
      catchUp: entry.catchUp ?? 'one',
      jitterMs: entry.jitter ?? 0,
    }
  })
