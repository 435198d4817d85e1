import { isUtf8 } from 'node:buffer'
import { closeSync, constants, type Dirent, fstatSync, lstatSync, openSync, readdirSync, renameSync } from 'node:fs'
import { join } from 'node:path'
import { type CodePath, codePathMatcher, type Treatment } from '../../domain/workspace/code-paths.ts'
import { looksLikePawlHome } from '../../domain/workspace/credential-paths.ts'
import { foldName } from '../../domain/workspace/path-rules.ts'
import { isAbsence, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { letIn } from '../../sandbox/files/let-in.ts'
import { markOf } from '../../sandbox/port.ts'
import { takingTurns } from '../base/turns.ts'
import { foldedNames } from './credentials.ts'
import { knownHomes } from './homes.ts'

/** One path of a workspace that is code, as it was found. A folder stands for all that is in it. */
export interface FoundCode {
  /** Relative to the workspace. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'link' | 'other'
  readonly is: Treatment | GitPart | 'dot'
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
  /** Folders with a set-group-ID, set-user-ID or sticky bit. */
  readonly special: readonly string[]
  /** What was not looked into: too deep, a name that is no text, or unreadable. */
  readonly unseen: readonly string[]
}

export interface FindOptions {
  readonly paths: readonly CodePath[]
  /** Our own home may lie inside of a workspace. */
  readonly without: string
  /** What the user calls the place, if its files lie elsewhere: names above it count, and a copy of a home is one. */
  readonly seenAs?: string | undefined
  /**
   * The agent is gone: whatever it closed is opened, and a folder whose name is no text is renamed and counts as code as a whole. What was not looked into before
   * the run is left alone.
   */
  readonly afterRun?: { readonly unseenBefore: readonly string[] } | undefined
}

/** The handles on the way down stay open. */
const deepest = 64
/** Beyond this a path in quarantine could not be named any more. */
const longestPath = 3_000

/** More than anybody looks at; a workspace that has more had them before. */
const mostDots = 5_000

/**
 * Looks through a workspace from open folder to open folder, so that no link leads out of it. Packages that were installed are not looked into: whoever uses
 * them executes them anyway, and nobody opens them as a project; that they were changed is told. The calls wait, which is several times faster than
 * calls that do not; every few milliseconds everybody else gets a turn.
 */
export async function findCode(root: string, { paths, without, seenAs = root, afterRun }: FindOptions): Promise<FoundAll> {
  const { match } = codePathMatcher(paths)
  const found = { code: [] as FoundCode[], repositories: [] as string[], special: [] as string[], unseen: [] as string[] }
  let dots = 0
  const homes = knownHomes()
  const turn = takingTurns()

  const walk = async (folder: string, path: string, { name, depth, kind, above, homeAt }: Way): Promise<void> => {
    await turn()
    if (depth > deepest || Buffer.byteLength(path) > longestPath) {
      const isNew = afterRun !== undefined && !afterRun.unseenBefore.includes(path)
      const seen = isNew ? look(folder) : undefined
      // Nobody looks into it, so nobody knows what it is: it goes as a whole.
      if (seen) found.code.push({ path, is: 'hidden', runs: 'unknown', ...seen })
      else found.unseen.push(path)
      return
    }
    const mayOpen = afterRun !== undefined && !afterRun.unseenBefore.includes(path)
    const onClosed = () => void (kind === 'secrets' || found.unseen.push(path))
    await inside({ folder, mayOpen, onClosed }, async (at, entries, { mark, mode }) => {
      if ((mode & 0o7000) !== 0) found.special.push(path)
      const names = new Set(entries.map((entry) => entry.name))
      const add = (entry: string, is: FoundCode['is'], runs: string) => {
        const seen = look(at(entry))
        if (seen) found.code.push({ path: join(path, entry), is, runs, ...seen })
      }
      if (path !== '' && looksLikePawlHome((entry) => names.has(entry)))
        return void found.code.push({ path, is: 'secret', runs: 'pawl', kind: 'directory', id: mark })
      const home = homes.isHome(join(seenAs, path), mark) ? above.length : homeAt
      const wayTo = (entry: string, next: Kind): Way => ({
        name: entry,
        depth: depth + 1,
        kind: next,
        above: [...above, foldName(entry)],
        homeAt: home,
      })
      if (kind === 'secrets') {
        for (const entry of entries) {
          if (match(entry.name, above, home)?.treatment === 'secret') add(entry.name, 'secret', 'logins')
          else if (entry.isDirectory()) await walk(at(entry.name), join(path, entry.name), wayTo(entry.name, kind))
        }
        return
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
        for (const entry of gitPlans) if (names.has(entry)) add(entry, 'fixed', 'commands')
      }
      for (const entry of entries) {
        const rule = match(entry.name, above, home)
        if (rule) {
          add(entry.name, rule.treatment, rule.runs)
          // It counts as a whole, but what is secret in it is covered also where the rest is not.
          if (entry.isDirectory() && rule.treatment !== 'secret' && !afterRun)
            await walk(at(entry.name), join(path, entry.name), wayTo(entry.name, 'secrets'))
          continue
        }
        if (entry.name.startsWith('.') && entry.name !== '.git' && kind === 'tree' && name !== '.git' && ++dots <= mostDots)
          add(entry.name, 'dot', 'unknown')
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
        else await walk(at(entry.name), join(path, entry.name), wayTo(entry.name, next))
      }
    })
  }
  if (afterRun) letIn(root, 'read')
  const top = await openDirectory(root).catch(() => undefined)
  // By its handle from here on: whoever works around it may put a link in its place.
  if (top)
    await walk(top.at('.'), '', { name: '', depth: 0, kind: 'tree', above: foldedNames(seenAs), homeAt: undefined }).finally(() =>
      top.close(),
    )
  else found.unseen.push('')
  return found
}

/** How a folder was come to, and how it is looked into. */
interface Way {
  readonly name: string
  readonly depth: number
  readonly kind: Kind
  /** The names of it and of the folders above, from the root of the machine. */
  readonly above: readonly string[]
  /** How many of those lead to the home that it lies in, if it lies in one. */
  readonly homeAt: number | undefined
}

/** What git itself would take for one; a folder with a pointer to the rest is one as well. */
const isRepository = (name: string, names: ReadonlySet<string>) =>
  name === '.git' || (names.has('HEAD') && ((names.has('objects') && names.has('refs')) || names.has('commondir')))

/** What is under way: whoever goes on with it runs the commands in it. `sl` is the folder of Sapling, with settings of its own. */
const gitPlans = ['rebase-merge', 'rebase-apply', 'sequencer', 'sl']

/** `below modules` is where git keeps the repositories of submodules and of worktrees, each in a folder or deeper; of `secrets` nothing else is looked for. */
type Kind = 'tree' | 'modules' | 'below modules' | 'objects' | 'secrets'

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

interface Opening {
  readonly folder: string
  readonly mayOpen: boolean
  readonly onClosed: () => void
}

/** Gone, or no folder any more: then there is nothing in it. */
async function inside(
  { folder, mayOpen, onClosed }: Opening,
  use: (at: (name: string) => string, entries: Dirent[], here: { mark: string; mode: number }) => Promise<void>,
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
    const stat = fstatSync(fd)
    await use(at, readdirSync(at('.'), { withFileTypes: true }), { mark: markOf(stat), mode: stat.mode })
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
