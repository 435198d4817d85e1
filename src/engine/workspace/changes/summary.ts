import type { Changes } from '../bring-back.ts'
import type { Difference } from './difference.ts'

/** What a run changed, in one line. */
export interface ChangeSummary {
  readonly summary: string
  readonly files: number
}

export function summariseDifference({
  files,
  fileCount,
  added,
  removed,
}: Pick<Difference, 'files' | 'fileCount' | 'added' | 'removed'>): ChangeSummary {
  const count = (...statuses: string[]) => files.filter(({ status }) => statuses.includes(status)).length
  const lines = added + removed > 0 ? ` (+${added} -${removed})` : ''
  const told = oneLine({
    changed: count('modified', 'retyped'),
    new: count('added'),
    renamed: count('renamed'),
    removed: count('deleted'),
    'not named': fileCount - files.length,
  })
  return { summary: `${told?.summary ?? ''}${lines}`, files: fileCount }
}

/** What came back from a copy, without git's own files: a commit is not a change to the work. */
export function summariseBrought(changes: Changes): ChangeSummary | undefined {
  const count = (paths: readonly string[]) => paths.filter((path) => !path.startsWith('.git/')).length
  return oneLine({ changed: count(changes.changed), new: count(changes.added), removed: count(changes.removed) })
}

function oneLine(counts: Record<string, number>): ChangeSummary | undefined {
  const told = Object.entries(counts).filter(([, count]) => count > 0)
  if (told.length === 0) return undefined
  return {
    summary: told.map(([what, count]) => `${count} ${what}`).join(', '),
    files: told.reduce((sum, [, count]) => sum + count, 0),
  }
}
