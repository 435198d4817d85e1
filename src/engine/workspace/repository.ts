import { lstat, stat } from 'node:fs/promises'
import { join } from 'node:path'
import type { Changes } from './bring-back.ts'

/** What a run changed, in one line. */
export interface ChangeSummary {
  readonly summary: string
  readonly files: number
}

/** Runs git in the workspace, inside the walls: the tree may be hostile and its configuration may start programs. Undefined if git fails. */
export type WalledGit = (args: readonly string[]) => Promise<string | undefined>

/** The state of each file that differs from the last commit: lines added and removed, or that it is new, and then its size and time. */
export type RepositoryState = ReadonlyMap<string, FileState>
interface FileState {
  readonly added: number
  readonly removed: number
  readonly isNew: boolean
  readonly mark: string
}

/** Undefined where there is no repository. */
export async function repositoryState(path: string, git: WalledGit): Promise<RepositoryState | undefined> {
  const hasRepository = await stat(join(path, '.git')).then(
    () => true,
    () => false,
  )
  if (!hasRepository) return undefined
  const [tracked, untracked] = await Promise.all([
    git(['--no-optional-locks', 'diff', '--numstat', '-z', '--no-renames', '--no-ext-diff', '--no-textconv', 'HEAD']),
    git(['ls-files', '-z', '--others', '--exclude-standard']),
  ])
  const state = new Map<string, FileState>()
  for (const line of (tracked ?? '').split('\0')) {
    const [added, removed, name] = line.split('\t')
    // A dash stands for a binary file.
    if (name !== undefined) state.set(name, { added: Number(added) || 0, removed: Number(removed) || 0, isNew: false, mark: '' })
  }
  for (const name of (untracked ?? '').split('\0'))
    if (name !== '') state.set(name, { added: 0, removed: 0, isNew: true, mark: await markOf(join(path, name)) })
  return state
}

const markOf = (path: string) =>
  lstat(path, { bigint: true }).then(
    ({ size, mtimeNs }) => `${size} ${mtimeNs}`,
    () => 'gone',
  )

/** What is different between two looks; undefined if nothing is. */
export function summarise(before: RepositoryState, after: RepositoryState | undefined): ChangeSummary | undefined {
  if (!after) return undefined
  let [changed, fresh, added, removed] = [0, 0, 0, 0]
  for (const name of new Set([...before.keys(), ...after.keys()])) {
    const was = before.get(name)
    const is = after.get(name)
    if (was && is && was.added === is.added && was.removed === is.removed && was.isNew === is.isNew && was.mark === is.mark)
      continue
    if (is?.isNew && !was) fresh++
    else changed++
    added += Math.max((is?.added ?? 0) - (was?.added ?? 0), 0)
    removed += Math.max((is?.removed ?? 0) - (was?.removed ?? 0), 0)
  }
  const lines = added + removed > 0 ? ` (+${added} -${removed})` : ''
  return oneLine({ [`changed${lines}`]: changed, new: fresh })
}

/** What came back from a copy, without git's own files: a commit is not a change to the work. */
export function summariseChanges(changes: Changes): ChangeSummary | undefined {
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
