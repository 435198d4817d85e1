import { createHash } from 'node:crypto'
import { lstatSync, readdirSync } from 'node:fs'
import { basename, dirname, join, relative, resolve } from 'node:path'
import { workspacePathIfAny } from '../../domain/base/path.ts'
import { type DirectoryHandle, inFolderOf, openIn } from '../../sandbox/files/directory-handle.ts'
import { readRegularAt } from '../../sandbox/files/read-file.ts'
import { takingTurns } from '../base/turns.ts'
import { type CapturedPart, capture, mostCodeBytes } from './capture.ts'
import type { FoundAll, FoundCode } from './find-code.ts'
import { type CleanGitConfig, cleanGitConfig, withoutWorktree, worktreeOf } from './git-config.ts'
import type { Before } from './guard-record.ts'

/** A path of code that was not there before the run, or not so. */
export interface Planted {
  readonly path: string
  readonly runs: string
  /** What was there before, if it is known. */
  readonly earlier?: readonly CapturedPart[] | undefined
  /** A configuration of git that keeps working, without what runs something. */
  readonly cleaned?: string | undefined
  /** Only written anew: what it says is nothing to keep. */
  readonly isHarmless?: boolean | undefined
}

export interface PlantedAll {
  readonly planted: readonly Planted[]
  /** The user's own work that was changed and that will run one day. */
  readonly flagged: readonly string[]
}

/** Compares what is code in a workspace now with how it was before. */
export async function findPlanted(before: readonly Before[], now: FoundAll, places: Places): Promise<PlantedAll> {
  const known = new Map(before.map((one) => [one.path, one]))
  // A worktree or a clone that was made inside has the configuration of the repository once more, which is nothing new.
  const contents = new Set(before.flatMap(({ path, digest }) => (digest === undefined ? [] : [`${basename(path)}\0${digest}`])))
  const planted: Planted[] = []
  const flagged: string[] = []
  const turn = takingTurns()
  const ids = new Set(before.map(({ id }) => id))
  const dots = new Set<string>()
  const isIn = (path: string, folders: ReadonlySet<string>): boolean =>
    path !== '.' && (folders.has(path) || isIn(dirname(path), folders))
  for (const code of now.code) {
    await turn()
    const was = known.get(code.path)
    if (code.is === 'dot') {
      if (!was && !isIn(code.path, dots)) dots.add(code.path)
      continue
    }
    if (was?.held && was.id === code.id) continue
    if (code.is === 'secret') {
      // The user's own, written anew or moved: nobody but the user can have done that, or read it.
      if (was || ids.has(code.id)) continue
      if (code.runs === 'pawl') flagged.push(code.path)
      else planted.push({ path: code.path, runs: code.runs })
      continue
    }
    const digest = await digestOf(places.root, code)
    const isSame = digest !== undefined && digest === was?.digest
    // What a repository names it names relative to itself, so git's own settings are new in another place.
    if (isSame || (!code.is.startsWith('git-') && contents.has(`${basename(code.path)}\0${digest}`))) continue
    if (code.is === 'flagged' || code.is === 'text') flagged.push(code.path)
    else planted.push(...(await judge(code, was, now, places)))
  }
  return { planted, flagged: [...flagged, ...some(dots)] }
}

/** An agent may make any number of them, to hide one. */
const mostDots = 100
const some = (dots: ReadonlySet<string>) => [
  ...[...dots].slice(0, mostDots),
  ...(dots.size > mostDots ? [`… and ${dots.size - mostDots} more that begin with a dot`] : []),
]

/** Tells a change of what is not covered. Of the file that names a package only what it runs counts. */
export async function digestOf(root: string, code: FoundCode): Promise<string | undefined> {
  if (basename(code.path) === 'package.json' && code.kind === 'file') {
    const text = await readRegularAt(join(root, code.path), mostCodeBytes)
    const runs = whatRuns(text?.toString('utf8') ?? '')
    if (runs !== undefined) return createHash('sha256').update(runs).digest('hex')
  }
  if (code.runs === 'packages') return inFolderOf(join(root, code.path), digestOfPackages)
  return (await capture(root, code.path, { keep: false }))?.digest
}

/** Changes with what is put into a package, taken out of it or installed; a change deep in one is not seen. Nobody but the system sets these times. */
async function digestOfPackages(parent: DirectoryHandle, name: string): Promise<string> {
  const hash = createHash('sha256')
  const turn = takingTurns()
  const look = async (folder: DirectoryHandle, entry: string, isScope: boolean): Promise<void> => {
    await turn()
    hash.update(`${entry}\0${lstatSync(folder.at(entry), { bigint: true, throwIfNoEntry: false })?.ctimeNs}\0`)
    const inside = isScope ? await openIn(folder, entry) : undefined
    try {
      if (inside)
        for (const below of readdirSync(inside.at('.')).toSorted())
          await look(inside, below, entry === name && below.startsWith('@'))
    } finally {
      await inside?.close()
    }
  }
  await look(parent, name, true)
  return hash.digest('hex')
}

function whatRuns(text: string): string | undefined {
  try {
    const { scripts, bin, husky, 'lint-staged': staged } = JSON.parse(text)
    return JSON.stringify([scripts, bin, husky, staged])
  } catch {
    // Not JSON: then every change counts.
    return undefined
  }
}

interface Places {
  readonly root: string
  /** What the agent and the user call the place. */
  readonly workspace: string
}

async function judge(code: FoundCode, was: Before | undefined, now: FoundAll, places: Places): Promise<Planted[]> {
  const { path, runs } = code
  const whole: Planted = { path, runs, earlier: was?.parts }
  const isKnown = was?.parts !== undefined
  if (code.is === 'git-config' && code.kind === 'file') {
    const text = (await readRegularAt(join(places.root, path), mostCodeBytes))?.toString('utf8')
    if (text === undefined) return [whole]
    const clean = cleanGitConfig(text)
    const worktree = worktreeOf(clean.text)
    const leads = worktree !== undefined && !(await isModuleAt(dirname(path), worktree, places))
    if (isKnown) {
      const earlier = earlierConfig(was)
      return clean.rest !== undefined && clean.rest === earlier?.rest && (!leads || worktree === worktreeOf(earlier.text))
        ? []
        : [whole]
    }
    const cleaned = leads ? withoutWorktree(clean.text) : clean.text
    return cleaned === text ? [] : [{ path, runs, cleaned, isHarmless: clean.dropped.length === 0 && !leads }]
  }
  // Git puts samples there, which it never runs.
  if (code.is === 'git-hooks' && code.kind === 'directory' && !isKnown)
    return (await namesIn(places.root, path))
      .filter((name) => !name.endsWith('.sample'))
      .map((name) => ({ path: join(path, name), runs }))
  if (code.is === 'git-pointer' && code.kind === 'file' && (await leadsToKnown(code, now, places))) return []
  return [whole]
}

function earlierConfig({ parts }: Before): CleanGitConfig | undefined {
  const content = parts?.[0]?.content
  return content === undefined ? undefined : cleanGitConfig(Buffer.from(content, 'base64').toString('utf8'))
}

/** Only the files of a submodule lie elsewhere, in a folder of the workspace that points back. Anywhere else a checkout would write over what is not the agent's. */
async function isModuleAt(gitdir: string, worktree: string, { root, workspace }: Places): Promise<boolean> {
  const tree = workspacePathIfAny(join(gitdir, worktree))
  if (tree === undefined) return false
  const pointer = (await readRegularAt(join(root, join(tree, '.git')), mostCodeBytes))?.toString('utf8')
  const named = /^gitdir: ([^\n\0]+)\n?$/.exec(pointer ?? '')?.[1]
  return named !== undefined && resolve(workspace, tree, named) === join(workspace, gitdir)
}

/** A worktree or a submodule made inside: where it leads was found, and so looked at, by itself. */
async function leadsToKnown({ path }: FoundCode, { repositories }: FoundAll, { root, workspace }: Places): Promise<boolean> {
  const text = (await readRegularAt(join(root, path), mostCodeBytes))?.toString('utf8')
  const isCommon = basename(path) === 'commondir'
  const named = (isCommon ? /^([^\n\0]+)\n?$/ : /^gitdir: ([^\n\0]+)\n?$/).exec(text ?? '')?.[1]
  return named !== undefined && repositories.includes(relative(workspace, resolve(workspace, dirname(path), named)))
}

const namesIn = async (root: string, path: string) =>
  (await inFolderOf(join(root, path), async (folder, name) => {
    const inside = await openIn(folder, name)
    try {
      return inside ? readdirSync(inside.at('.')) : []
    } finally {
      await inside?.close()
    }
  })) ?? []
