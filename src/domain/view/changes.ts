import { z } from 'zod'
import { RunId, TaskId } from '../id.ts'

/** What became of a file. */
export const fileStatuses = ['added', 'modified', 'deleted', 'renamed', 'retyped'] as const
export type FileStatus = (typeof fileStatuses)[number]

export const ChangedFile = z.object({
  path: z.string(),
  from: z.string().nullable().describe('Its name before, if it was renamed.'),
  status: z.enum(fileStatuses).describe('`retyped`: a file became a link, or the other way round.'),
  added: z.int().nullable().describe('Lines; null where they cannot be counted.'),
  removed: z.int().nullable(),
  binary: z.boolean().describe('It is named and not shown: binary, larger than 1 MB, or not readable.'),
  patch: z.enum(['whole', 'cut', 'none']).describe('How much of its difference is kept.'),
})
export type ChangedFile = z.infer<typeof ChangedFile>

/** Of several runs together. */
export const TaskFile = z.object({ ...ChangedFile.shape, runs: z.array(RunId).describe('Those that changed it, in order.') })
export type TaskFile = z.infer<typeof TaskFile>

const figures = {
  fileCount: z.int().describe('All of them, also those that are not listed.'),
  added: z.int(),
  removed: z.int(),
}

export const changeStates = ['nothing', 'files', 'unknown', 'open'] as const

export const RunChangesView = z.object({
  run: RunId,
  number: z.int().describe('1 for the first run of the task.'),
  state: z
    .enum(changeStates)
    .describe('`nothing`: it changed nothing. `unknown`: nobody knows, see `why`. `open`: the run has not ended.'),
  why: z.string().nullable().describe('Why it is not known, or not all of it.'),
  covers: z.array(RunId).describe('Earlier runs that were cut off: what they changed is in here.'),
  files: z.array(ChangedFile),
  ...figures,
})
export type RunChangesView = z.infer<typeof RunChangesView>

export const TaskChangesView = z.object({
  task: TaskId,
  files: z.array(TaskFile).describe('What all runs together came to.'),
  ...figures,
  isComposed: z
    .boolean()
    .describe(
      'False if a file was changed by more than one run: its lines are then counted, and its difference is shown, run by run.',
    ),
  runs: z.array(RunChangesView),
})
export type TaskChangesView = z.infer<typeof TaskChangesView>
