import type { ChangedFile, RunChangesView, TaskFile } from '../../../domain/view/changes.ts'

/**
 * What several runs together came to, file by file. Of a file that one run alone changed everything is known; one that several changed has the lines of all of them
 * counted, and its difference is theirs, one after the other. What was made and removed again is left out.
 */
export function composeRuns(runs: readonly Pick<RunChangesView, 'run' | 'files'>[]): { files: TaskFile[]; isComposed: boolean } {
  const files = new Map<string, TaskFile>()
  for (const { run, files: changed } of runs)
    for (const file of changed) {
      const before = files.get(file.from ?? file.path)
      if (file.from !== null) files.delete(file.from)
      const status = before ? together(before, file) : file.status
      if (status === undefined) files.delete(file.path)
      else files.set(file.path, before ? joined(before, file, run, status) : { ...file, runs: [run] })
    }
  const all = [...files.values()].toSorted((one, other) => (one.path < other.path ? -1 : 1))
  return { files: all, isComposed: all.every((file) => file.runs.length === 1) }
}

/** Undefined if nothing is left of it. */
function together(before: ChangedFile, after: ChangedFile): ChangedFile['status'] | undefined {
  if (after.status === 'deleted') return before.status === 'added' ? undefined : 'deleted'
  if (before.status === 'added') return 'added'
  if (before.status === 'deleted') return 'modified'
  if (before.status === 'renamed') return 'renamed'
  return after.status
}

const joined = (before: TaskFile, after: ChangedFile, run: string, status: ChangedFile['status']): TaskFile => ({
  path: after.path,
  from: status === 'renamed' ? (before.from ?? after.from) : null,
  status,
  added: sum(before.added, after.added),
  removed: sum(before.removed, after.removed),
  binary: before.binary && after.binary,
  patch: before.patch === after.patch ? after.patch : 'cut',
  runs: [...before.runs, run],
})

const sum = (one: number | null, other: number | null) => (one === null && other === null ? null : (one ?? 0) + (other ?? 0))
