import { isUtf8 } from 'node:buffer'
import { closeSync, constants, type Dirent, lstatSync, openSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type CodePath, codePathMatcher, type Treatment } from '../../domain/code-paths.ts'
import { isAbsence } from '../../files/directory-handle.ts'
import { letIn } from '../../files/let-in.ts'
import { takingTurns } from './turns.ts'

/** One path of a workspace that is code, as it was found. A folder stands for all that is in it. */
export interface FoundCode {
  /** Relative to the workspace. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  readonly is: Treatment | GitPart
  readonly runs: string
  /** Which file it is, whatever it is called. */
  readonly id: string
}

/** `git-config` names programs, `git-hooks` holds them, and `git-pointer` says where the rest of a repository is. */
export type GitPart = 'git-config' | 'git-hooks' | 'git-pointer'

export interface FoundAll {
  readonly code: readonly FoundCode[]
  /** The folders of git, wherever they lie and whatever they are called. */
  readonly repositories: readonly string[]
  /** What was not looked into: too deep, a name that is no text, or unreadable. */
  readonly unseen: readonly string[]
}

export interface FindOptions {
  readonly paths: readonly CodePath[]
  /** Our own home may lie inside of a workspace. */
  readonly without: string
  /**
   * The agent is gone: whatever it closed is opened, and a folder whose name is no text is renamed and counts as code as a whole. What was not looked into before
   * the run is left alone.
   */
  readonly afterRun?: { readonly unseenBefore: readonly string[] } | undefined
}

/** The handles on the way down stay open. */
const deepest = 64

/**
 * Looks through a workspace from open folder to open folder, so that no link leads out of it. Packages that were installed are not looked into: whoever uses
 * them executes them anyway, and nobody opens them as a project; that they were changed is told. The calls wait, which is several times faster than
 * calls that do not; every few milliseconds everybody else gets a turn.
 */
export async function findCode(root: string, { paths, without, afterRun }: FindOptions): Promise<FoundAll> {
  const match = codePathMatcher(paths)
  const found = { code: [] as FoundCode[], repositories: [] as string[], unseen: [] as string[] }
  const turn = takingTurns()

  const walk = async (folder: string, path: string, name: string, depth: number, kind: Kind): Promise<void> => {
    await turn()
    if (depth > deepest) return void found.unseen.push(path)
    const mayOpen = afterRun !== undefined && !afterRun.unseenBefore.includes(path)
    await inside({ folder, mayOpen, onClosed: () => found.unseen.push(path) }, async (at, entries) => {
      const names = new Set(entries.map((entry) => entry.name))
      const add = (entry: string, is: FoundCode['is'], runs: string) => {
        const seen = look(at(entry))
        if (seen) found.code.push({ path: join(path, entry), is, runs, ...seen })
      }
      const isGit = isRepository(name, names)
      if (isGit) found.repositories.push(path)
      // What is no repository yet may become one later, with what was put there before.
      if (isGit || kind === 'below modules') {
        const folders = new Set(entries.flatMap((entry) => (entry.isDirectory() ? [entry.name] : [])))
        for (const entry of ['config', 'config.worktree'])
          if (names.has(entry) && (isGit || !folders.has(entry))) add(entry, 'git-config', 'commands')
        if (names.has('hooks')) add('hooks', 'git-hooks', 'hooks')
        if (names.has('commondir')) add('commondir', 'git-pointer', 'commands')
        if (names.has('info')) add('info/attributes', 'fixed', 'filters')
      }
      for (const entry of entries) {
        const rule = match(entry.name, name)
        if (rule) {
          add(entry.name, rule.treatment, rule.runs)
          continue
        }
        if (!entry.isDirectory()) {
          if (entry.name === '.git') add(entry.name, 'git-pointer', 'commands')
          continue
        }
        const next = kindBelow(entry.name, { name, kind, isGit })
        if (next === undefined || join(root, path, entry.name) === without) continue
        if (entry.name.includes('\ufffd')) {
          const odd = join(path, entry.name)
          if (!afterRun || afterRun.unseenBefore.includes(odd)) found.unseen.push(odd)
          else for (const renamed of renameOdd(at)) add(renamed, 'hidden', 'unknown')
        } else if (entry.name === 'node_modules' && next === 'tree') add(entry.name, 'flagged', 'packages')
        else await walk(at(entry.name), join(path, entry.name), entry.name, depth + 1, next)
      }
    })
  }
  await walk(root, '', '', 0, 'tree')
  return found
}

/** What git itself would take for one; a folder with a pointer to the rest is one as well. */
const isRepository = (name: string, names: ReadonlySet<string>) =>
  name === '.git' || (names.has('HEAD') && ((names.has('objects') && names.has('refs')) || names.has('commondir')))

/** `below modules` is where git keeps the repositories of submodules and of worktrees, each in a folder or deeper. */
type Kind = 'tree' | 'modules' | 'below modules' | 'objects'

/** How a folder of that name is looked into; undefined if not at all. */
function kindBelow(entry: string, { name, kind, isGit }: { name: string; kind: Kind; isGit: boolean }): Kind | undefined {
  if (isGit && (entry === 'modules' || entry === 'worktrees')) return 'modules'
  // Of the folder of git itself nothing else counts. One that only looks like a repository is looked through like any other.
  if (name === '.git' && kind === 'tree') return undefined
  // Counts as a whole.
  if (entry === 'hooks' && (isGit || kind === 'below modules')) return undefined
  if (isGit && entry === 'objects') return 'objects'
  if (kind === 'objects') return /^([0-9a-f]{2}|pack|info)$/.test(entry) ? undefined : 'tree'
  return kind === 'modules' ? 'below modules' : kind
}

interface Way {
  readonly folder: string
  readonly mayOpen: boolean
  readonly onClosed: () => void
}

/** Gone, or no folder any more: then there is nothing in it. */
async function inside(
  { folder, mayOpen, onClosed }: Way,
  use: (at: (name: string) => string, entries: Dirent[]) => Promise<void>,
): Promise<void> {
  let fd: number
  try {
    fd = openFolder(folder, mayOpen)
  } catch (error) {
    if (!isAbsence(error)) onClosed()
    return
  }
  try {
    const here = process.platform === 'linux' ? `/proc/self/fd/${fd}` : folder
    const at = (name: string) => `${here}/${name}`
    await use(at, readdirSync(at('.'), { withFileTypes: true }))
  } catch (error) {
    if (!isAbsence(error)) throw error
  } finally {
    closeSync(fd)
  }
}

function openFolder(path: string, mayOpen: boolean): number {
  const flags = constants.O_RDONLY | constants.O_DIRECTORY | constants.O_NOFOLLOW
  if (mayOpen) letIn(path, 'read')
  return openSync(path, flags)
}

/** Folders whose names are no text get names that are. */
function renameOdd(at: (name: string) => string): string[] {
  return readdirSync(at('.'), { encoding: 'buffer' })
    .filter((name) => !isUtf8(name))
    .flatMap((name) => {
      const from = Buffer.concat([Buffer.from(at('')), name])
      if (!lstatSync(from, { throwIfNoEntry: false })?.isDirectory()) return []
      const renamed = `unnamed-${name.toString('hex').slice(0, 100)}`
      renameSync(from, at(renamed))
      return [renamed]
    })
}

function look(path: string): Pick<FoundCode, 'kind' | 'id'> | undefined {
  const stat = lstatSync(path, { bigint: true, throwIfNoEntry: false })
  if (!stat) return undefined
  const kind = stat.isFile() ? 'file' : stat.isDirectory() ? 'directory' : stat.isSymbolicLink() ? 'link' : 'other'
  return { kind, id: `${stat.dev}:${stat.ino}` }
}
