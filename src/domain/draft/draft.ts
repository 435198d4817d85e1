import { z } from 'zod'
import { NewSchedule, When } from '../schedule/schedule.ts'
import { NewTasks } from '../view/view.ts'

/** What helps somebody to write a task, before there is one. */

export const TemplateView = z.object({
  name: z.string(),
  text: z.string().describe('At most the first 10,000 characters.'),
  takesContext: z.boolean().describe('Whether it has a place for a context.'),
})
export type TemplateView = z.infer<typeof TemplateView>

export const FolderView = z.object({
  path: z.string().nullable().describe('The folder that is looked into; null for the places to begin at.'),
  parent: z.string().nullable().describe('The one above, if that may be looked into as well.'),
  recent: z.array(z.string()).describe('Where tasks have worked lately. Only with the places to begin at.'),
  items: z.array(z.object({ name: z.string(), path: z.string(), isRepository: z.boolean() })),
  isCut: z.boolean().describe('There are more than are shown.'),
})
export type FolderView = z.infer<typeof FolderView>

export const TaskFileText = z.strictObject({
  text: z.string().min(1).max(500_000).describe('YAML or JSON, as "pawl task add -f" reads it.'),
  folder: z.string().min(1).max(4096).optional().describe('An absolute path that the paths in it are seen from.'),
})
export type TaskFileText = z.infer<typeof TaskFileText>

/** When a task of a file comes again, and how it is gone about. */
export const DraftTiming = NewSchedule.omit({ task: true })
export const DraftSchedule = DraftTiming.extend({ says: z.string() })
export type DraftSchedule = z.infer<typeof DraftSchedule>

export const TaskFileRead = z.object({
  tasks: NewTasks.shape.tasks,
  schedules: z.array(DraftSchedule.nullable()).describe('Of each task in its place: when it comes again, if it is to.'),
})
export type TaskFileRead = z.infer<typeof TaskFileRead>

export const WhenText = z.strictObject({
  when: z.string().min(1).max(200).describe('As people write it: "0 7 * * 1-5", "every 90m", "at 2026-05-01 09:00".'),
  timeZone: z.string().min(1).max(64).optional().describe('Whose clocks count; those of the daemon’s machine if left out.'),
})
export type WhenText = z.infer<typeof WhenText>

export const WhenRead = z.object({
  when: When,
  says: z.string(),
  next: z.array(z.object({ at: z.iso.datetime(), local: z.string() })).describe('The next five times.'),
})
export type WhenRead = z.infer<typeof WhenRead>
