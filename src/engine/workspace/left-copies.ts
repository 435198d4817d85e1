import { join } from 'node:path'
import { messageOf } from '../../domain/error.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { sameInCopy } from '../../sandbox/files/entry.ts'
import { namesIn } from '../../sandbox/files/names-in.ts'
import { bringBack } from './bring-back.ts'
import { type CopyRecord, discardCopy, hasStayed, partsOfCopy, readRecord, writeRecord } from './copy.ts'
import { placeAt } from './same-place.ts'
import { settleLeft } from './settle-guard.ts'
import { readTree } from './tree.ts'

/** When tasks ended: nothing for one that may still go on, or that is deleted. */
export type EndsOf = (tasks: readonly string[]) => Promise<{
  readonly ended: ReadonlyMap<string, Date>
  readonly deleted: ReadonlySet<string>
}>

export interface SweptCopy {
  readonly task: string
  readonly detail: string
}

/** Work that comes back later than this would surprise whoever has gone on in that folder since. */
const lateMs = 24 * 60 * 60_000

/**
 * Brings back what runs left in copies when they were killed, of tasks that no other run goes on with: the task was cancelled before it ran again, say, or failed with
 * its last run. A copy whose work is all back is removed; one that holds some which could not be brought back stays for a person. Safe to call while others do the same.
 */
export async function sweepCopies(
  home: string,
  { paths, endsOf, now }: { readonly paths: readonly CodePath[]; readonly endsOf: EndsOf; readonly now: number },
): Promise<SweptCopy[]> {
  const folder = join(home, 'workspaces')
  const copies = namesIn(folder).flatMap((name) => {
    const task = /^([^.]+)\.\d+\.copy$/.exec(name)?.[1]
    return task === undefined ? [] : [{ task, directory: join(folder, name) }]
  })
  if (copies.length === 0) return []
  const { ended, deleted } = await endsOf(copies.map(({ task }) => task))
  const swept: SweptCopy[] = []
  for (const { task, directory } of copies) {
    const endedAt = ended.get(task)
    if (endedAt === undefined && !deleted.has(task)) continue
    const isLate = endedAt === undefined || now - endedAt.getTime() > lateMs
    try {
      const detail = await sweepCopy(directory, { home, paths, isLate })
      if (detail !== undefined) swept.push({ task, detail })
    } catch (error) {
      // Somebody else was faster, or another run has it.
      if (!isAbsence(error)) swept.push({ task, detail: `${directory} could not be cleared up: ${messageOf(error)}` })
    }
  }
  return swept
}

async function sweepCopy(
  directory: string,
  { home, paths, isLate }: { readonly home: string; readonly paths: readonly CodePath[]; readonly isLate: boolean },
): Promise<string | undefined> {
  const { path, recordFile, guardFile } = partsOfCopy(directory)
  const record = await readRecord(recordFile)
  if (!record) {
    await discardCopy(directory)
    return undefined
  }
  if (record.isKept) return undefined
  const { original, isGitPrivate, temporaryName, base } = record
  // Whoever works around it may have put something else in its place since.
  const isElsewhere = record.mark !== undefined && original !== undefined && (await placeAt(original)) !== record.mark
  if (isLate || isElsewhere || original === undefined) {
    if (await isAsMade(path, record)) await discardCopy(directory)
    else {
      await writeRecord(recordFile, { ...record, isKept: true })
      return `What its last run changed was not brought back, and is kept in ${path}.`
    }
    return undefined
  }
  await settleLeft({ file: guardFile, home, paths }, path)
  const changes = await bringBack({ copy: path, original, without: home, isGitPrivate, temporaryName }, base)
  const count = changes.added.length + changes.changed.length + changes.removed.length
  const told = count === 0 ? undefined : `What its last run changed was brought back to ${original}: ${count} files.`
  if (!hasStayed(changes)) {
    await discardCopy(directory)
    return told
  }
  await writeRecord(recordFile, { ...record, isKept: true })
  const left = [...changes.conflicts, ...changes.failed.map((one) => one.path)]
  return `${told ?? ''} What could not be brought back to ${original} is kept in ${path}: ${left.slice(0, 20).join(', ')}.`.trim()
}

/** Does it hold nothing that an agent did? */
async function isAsMade(path: string, { base }: CopyRecord): Promise<boolean> {
  const now = await readTree(path)
  if (now.size !== base.size) return false
  for (const [name, entry] of now) {
    const before = base.get(name)
    if (!before || !(sameInCopy(before, entry) || (entry.kind === 'directory' && before.kind === 'directory'))) return false
  }
  return true
}
