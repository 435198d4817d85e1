import type { Clock } from '../base/clock.ts'
import {
  type DraftSchedule,
  DraftTiming,
  type FolderView,
  type TaskFileRead,
  type TaskFileText,
  type TemplateView,
  type WhenRead,
  type WhenText,
} from '../domain/draft/draft.ts'
import { invalid, PawlError } from '../domain/error.ts'
import { nextTime } from '../domain/schedule/next-time.ts'
import type { When } from '../domain/schedule/schedule.ts'
import { formatIn, ownTimeZone } from '../domain/schedule/time-zone.ts'
import { sayWhen } from '../domain/schedule/words.ts'
import type { NewTask, NewTasks } from '../domain/view/view.ts'
import type { Caller } from '../engine/auth/audit.ts'
import { listTemplates } from '../engine/tasks/templates.ts'
import { type FolderParts, listFolders } from './draft-folders.ts'
import type { TaskVerbs } from './tasks/tasks.ts'

/** What helps somebody to write a task. Nothing is made. */
export interface DraftVerbs {
  /** The templates of prompts in the home. */
  listTemplates(): Promise<TemplateView[]>
  /** Folders to work in, below one or to begin at. */
  listFolders(path: string | undefined, caller: Caller): Promise<FolderView>
  /** What would be made of a task file. Refused with all that is wrong with it, each with its line, or as making the tasks would be refused. */
  readTasks(file: TaskFileText, caller: Caller): Promise<TaskFileRead>
  /** When a schedule would be due. */
  previewSchedule(written: WhenText): Promise<WhenRead>
}

export interface DraftVerbParts extends FolderParts {
  readonly clock: Clock
  /** Reads a task file; paths in it are seen from the folder. */
  readonly readTaskText?:
    | ((
        text: string,
        options: { shown: string; folder: string },
      ) => Promise<{
        tasks: NewTasks['tasks']
        schedules: readonly (
          | { readonly when: When; readonly policies: Partial<Omit<DraftSchedule, 'when' | 'says'>> }
          | undefined
        )[]
        /** Of each task: files of the machine that the file was written on. */
        attachments: readonly (readonly string[])[]
      }>)
    | undefined
  readonly readWhen?: ((written: string, options: { timeZone?: string | undefined }) => When) | undefined
}

const shownNext = 5

export function draftVerbs(parts: DraftVerbParts, tasks: Pick<TaskVerbs, 'checkTask'>): DraftVerbs {
  const { clock, readTaskText, readWhen } = parts
  return {
    listTemplates: () => listTemplates(parts.home),

    listFolders: (path, caller) => listFolders(parts, path, caller.standing),

    async readTasks({ text, folder = '/' }, caller) {
      if (!readTaskText) throw new PawlError('unsupported', 'This Pawl reads no task files.')
      const read = await readTaskText(text, { shown: 'line', folder })
      const own = read.attachments.findIndex((paths) => paths.length > 0)
      if (own !== -1)
        throw invalid(
          `"${read.tasks[own]?.name ?? `task ${own + 1}`}" names attachments, which are files beside the task file and cannot be read from here; take them out and attach them, or use "pawl task add -f".`,
        )
      for (const [index, { dependsOn: _, ...task }] of read.tasks.entries())
        await tasks.checkTask(task as NewTask, caller).catch((error: unknown) => {
          throw error instanceof PawlError ? ofTask(task.name ?? `task ${index + 1}`, error) : error
        })
      const schedules = read.schedules.map((one) =>
        one ? { ...DraftTiming.parse({ ...one.policies, when: one.when }), says: sayWhen(one.when) } : null,
      )
      return { tasks: read.tasks, schedules }
    },

    async previewSchedule({ when: written, timeZone }) {
      if (!readWhen) throw new PawlError('unsupported', 'This Pawl reads no times.')
      const when = readWhen(written, { timeZone })
      const zone = when.kind === 'cron' ? when.timeZone : (timeZone ?? ownTimeZone())
      const since = clock.now()
      const next: WhenRead['next'] = []
      for (let at: number | undefined = since; next.length < shownNext; ) {
        at = nextTime(when, { after: at, since })
        if (at === undefined) break
        next.push({ at: new Date(at).toISOString(), local: formatIn(zone, at) })
      }
      return { when, says: sayWhen(when), next }
    },
  }
}

const ofTask = (name: string, { code, message, details }: PawlError) =>
  new PawlError(code, `"${name}": ${message}`, details === undefined ? {} : { details })
