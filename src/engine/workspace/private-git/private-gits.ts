import { existsSync, lstatSync, mkdirSync, readFileSync, type Stats, statSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import { z } from 'zod'
import {
  type HostPath,
  hostPath,
  isBelow,
  pathIn,
  relativeTo,
  type SandboxPath,
  sameInside,
  sandboxPath,
  type WorkspacePath,
  workspacePath,
} from '../../../domain/base/path.ts'
import { PawlError } from '../../../domain/error.ts'
import { inFolder } from '../../../sandbox/files/directory-handle.ts'
import { namesIn } from '../../../sandbox/files/names-in.ts'
import { readRegularAt } from '../../../sandbox/files/read-file.ts'
import { removeTree } from '../../../sandbox/files/remove-tree.ts'
import { type Mask, markOf, type Walls } from '../../../sandbox/port.ts'
import type { AgentUser } from '../../../sandbox/process/agent-user.ts'
import type { FoundAll } from '../find-code.ts'
import { linkedRepository } from '../linked-repository.ts'
import {
  handOver,
  isInStep,
  makeEmptyGit,
  makePrivateGit,
  modulesOf,
  NoPrivateGit,
  PrivateGit,
  type RealGit,
  readKnown,
  writeKnown,
} from './make.ts'

/** The git directories that one run works with. */
export interface PrivateGits {
  readonly made: readonly PrivateGit[]
  /** Git directories in the workspace that the agent does not get at; relative to it. */
  readonly covered: readonly WorkspacePath[]
  readonly masks: readonly Mask[]
  readonly mounts: NonNullable<Walls['mounts']>
  /** Empty folders that have to be made, because only what exists can be covered. */
  readonly stubs: readonly WorkspacePath[]
  readonly notes: readonly string[]
  /** All of them: what the agent writes there counts. */
  readonly folder: HostPath | undefined
  /** Removes what nobody needs any more. Not while a program has it mounted. */
  drop(): Promise<void>
}

export const noPrivateGits: PrivateGits = {
  ...{ made: [], covered: [], masks: [], mounts: [], stubs: [], notes: [] },
  folder: undefined,
  drop: async () => undefined,
}

export interface PrivateGitsPlace {
  readonly home: string
  /** Whose programs may stay for another run, and go on with the same. */
  readonly session: string
  readonly run: string
  /** Where the files are, what the agent calls the place, and where its git directories really are. */
  readonly root: HostPath
  readonly workspace: SandboxPath
  readonly original: HostPath
  readonly user: AgentUser | undefined
  /** Others work in the folder meanwhile: nothing that their git would obey may be made in it. */
  readonly isShared: boolean
  readonly isTrusted: boolean
}

const dotGit = workspacePath('.git')
const top = workspacePath('.')
/** Where a private git finds what it does not have itself. */
const borrowed = { objects: workspacePath('borrowed/objects'), lfs: workspacePath('borrowed/lfs') }

const mostGits = 64
const List = z.array(PrivateGit)

/** The git directories of a workspace, wherever they lie in it; what lies in them is a part of them. */
export const gitsIn = ({ repositories }: Pick<FoundAll, 'repositories'>): WorkspacePath[] => {
  const all = repositories.filter((path) => basename(path) === '.git').map(workspacePath)
  return all.filter((path) => !all.some((other) => isBelow(other, path)))
}

export async function preparePrivateGits(
  place: PrivateGitsPlace,
  found: FoundAll,
  unseen: readonly string[],
): Promise<PrivateGits> {
  const { home, session, run, root, workspace, original } = place
  const covered = gitsIn(found)
  const wanted: { real: RealGit; isModule: boolean }[] = []
  const notes: string[] = []
  const linked = await linkedRepository({ source: root, path: workspace })
  if (linked && 'note' in linked) notes.push(linked.note)
  const trees = new Map<SandboxPath, WorkspacePath>()
  const add = (real: Pick<RealGit, 'common' | 'tree' | 'path'>, tree: WorkspacePath | undefined, isModule: boolean) => {
    if (tree !== undefined) trees.set(real.path, tree)
    wanted.push({ real: { ...real, hidden: [], isTrusted: place.isTrusted, workspace }, isModule })
  }
  if (linked && !('note' in linked)) add({ common: linked.common, tree: linked.tree, path: sameInside(linked.tree) }, top, false)
  for (const path of covered.slice(0, mostGits)) {
    const common = pathIn(original, path)
    if (!existsSync(join(common, 'HEAD')) && path !== '.git') continue
    add({ common, tree: common, path: pathIn(workspace, path) }, workspacePath(dirname(path)), false)
  }
  const pointers = await pointersIn(found, root, workspace)
  for (const { real, isModule } of [...wanted]) {
    if (isModule) continue
    for (const module of await modulesOf(real.common)) {
      const path = pathIn(real.path, workspacePath(module))
      const common = pathIn(real.common, workspacePath(module))
      add({ common, tree: common, path }, pointers.get(path), true)
    }
  }
  if (place.isShared && !linked && !lstatSync(join(root, '.git'), { throwIfNoEntry: false }))
    add({ common: pathIn(original, dotGit), tree: pathIn(original, dotGit), path: pathIn(workspace, dotGit) }, top, false)

  // What is hidden belongs to the work tree that is next above it.
  const byDepth = [...trees].toSorted(([, a], [, b]) => b.length - a.length)
  const hidden = Map.groupBy(unseen.map(workspacePath), (path) => byDepth.find(([, tree]) => isBelow(tree, path))?.[0])
  const reals = wanted.map(({ real }) => ({
    ...real,
    hidden: (hidden.get(real.path) ?? []).map((path) => relativeTo(trees.get(real.path)!, path)!),
  }))
  const own = hostPath(join(home, 'git', session))
  const folder = await sameAsBefore(own, reals)
  const made = folder === undefined ? await makeAll(pathIn(own, workspacePath(run)), reals, wanted, notes, place) : folder.made
  const masks: Mask[] = []
  const mounts = [...(linked && !('note' in linked) ? linked.mounts : [])]
  if (linked && !('note' in linked)) masks.push(...linked.masks)
  for (const git of made) {
    if (!made.some((other) => isBelow(other.path, git.path)))
      masks.push({ kind: 'instead', path: git.path, source: git.git, writable: true })
    if (git.isNew) continue
    masks.push(await lent(git, 'objects'))
    if (existsSync(join(git.git, 'borrowed/lfs'))) masks.push(await lent(git, 'lfs'))
  }
  for (const path of covered)
    if (!made.some((git) => git.path === pathIn(workspace, path))) masks.push({ kind: 'nothing', path: pathIn(workspace, path) })
  const submodules = place.isShared ? uninitialised(made, trees, root) : []
  for (const { path, is } of submodules) masks.push({ kind: is, path: pathIn(workspace, path) })
  return {
    made,
    covered,
    masks,
    mounts,
    stubs: [
      ...made.flatMap(({ isNew, path }) => {
        const below = isNew ? relativeTo(workspace, path) : undefined
        return below !== undefined && !existsSync(pathIn(root, below)) ? [below] : []
      }),
      ...submodules.flatMap(({ path, isMissing }) => (isMissing ? [path] : [])),
    ],
    notes,
    folder: made.length === 0 ? undefined : (folder?.path ?? pathIn(own, workspacePath(run))),
    drop: () => dropSettled(own),
  }
}

/** What of the real one is seen in the private one. Whoever works around the repository may put a link there before it is mounted, so it is told by what it is. */
async function lent(git: PrivateGit, name: keyof typeof borrowed): Promise<Mask> {
  const found = await inFolder(join(git.common, name), async (folder) => markOf(await folder.stat()))
  if (found === undefined)
    throw new PawlError(
      'conflict',
      `The folder "${name}" of the repository ${git.common} became a link while the run began; try again.`,
    )
  return { kind: 'instead', path: pathIn(git.path, borrowed[name]), source: pathIn(git.common, workspacePath(name)), mark: found }
}

async function makeAll(
  folder: HostPath,
  reals: readonly RealGit[],
  wanted: readonly { readonly isModule: boolean }[],
  notes: string[],
  { user }: PrivateGitsPlace,
): Promise<PrivateGit[]> {
  if (reals.length === 0) return []
  await removeTree(folder)
  // The agent's user goes through the folders; what we know lies in one that is ours alone.
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  const made: PrivateGit[] = []
  for (const [number, real] of reals.entries()) {
    const above = made.find(({ path }) => isBelow(path, real.path))
    if (wanted[number]!.isModule && !above) continue
    const git = above ? pathIn(above.git, relativeTo(above.path, real.path)!) : pathIn(folder, workspacePath(`${number}/git`))
    const known = join(folder, String(number), 'known')
    const { common, tree, path } = real
    try {
      if (existsSync(join(common, 'HEAD'))) made.push(await makePrivateGit(real, git, known))
      else made.push(makeEmptyGit({ common, tree, path, git, known }))
    } catch (error) {
      if (!(error instanceof NoPrivateGit)) throw error
      await removeTree(git)
      notes.push(
        `Git does not work in ${dirname(path)}: ${error.message}; --workspace-mode clone gives the agent a repository of its own.`,
      )
    }
  }
  handOver(made, user)
  writeFileSync(join(folder, 'list.json'), JSON.stringify(made), { mode: 0o600 })
  return made
}

/** Those of the session's last run, if nothing has changed since in any of them. */
async function sameAsBefore(
  own: HostPath,
  reals: readonly RealGit[],
): Promise<{ path: HostPath; made: PrivateGit[] } | undefined> {
  for (const name of namesIn(own)) {
    const path = pathIn(own, workspacePath(name))
    const made = readList(path)
    if (!made || made.length !== reals.length || made.length === 0) continue
    let isSame = true
    for (const [number, git] of made.entries()) {
      const real = reals[number]!
      isSame &&= real.common === git.common && real.tree === git.tree && real.path === git.path
      isSame &&= await isInStep(real, git).catch((error: unknown) => {
        if (error instanceof NoPrivateGit) return false
        throw error
      })
    }
    if (!isSame) continue
    for (const { known } of made) writeKnown(known, { ...readKnown(known)!, state: 'open' })
    const now = Date.now() / 1_000
    utimesSync(join(path, 'list.json'), now, now)
    return { path, made }
  }
  return undefined
}

function readList(folder: string): PrivateGit[] | undefined {
  try {
    return List.parse(JSON.parse(readFileSync(join(folder, 'list.json'), 'utf8')))
  } catch {
    // Not made to the end.
    return undefined
  }
}

async function dropSettled(own: string): Promise<void> {
  for (const name of namesIn(own)) if (isOver(join(own, name))) await removeTree(join(own, name))
  if (namesIn(own).length === 0) await removeTree(own)
}

const isOver = (folder: string) => readList(folder)?.every(({ known }) => readKnown(known)?.state !== 'open') ?? false

/** What a program may still have mounted that another process keeps. */
const unusedMs = 24 * 60 * 60_000
/** What could not be brought back is kept for so long. */
const keptMs = 30 * unusedMs

/** Removes what was left by sessions that nobody goes on with. */
export async function sweepPrivateGits(home: string, named: ReadonlySet<HostPath>): Promise<void> {
  for (const session of namesIn(join(home, 'git'))) {
    const own = hostPath(join(home, 'git', session))
    for (const run of namesIn(own)) {
      const folder = hostPath(join(own, run))
      const age = Date.now() - (statSync(join(folder, 'list.json'), { throwIfNoEntry: false }) ?? statSync(folder)).mtimeMs
      const isNamed = [...named].some((path) => isBelow(folder, path))
      if (!isNamed && age > (isOver(folder) ? unusedMs : keptMs)) await removeTree(folder)
    }
    if (namesIn(own).length === 0) await removeTree(own)
  }
}

/** The folders of submodules, by the git directory to which a file in each of them leads. */
async function pointersIn({ code }: FoundAll, root: HostPath, workspace: SandboxPath): Promise<Map<SandboxPath, WorkspacePath>> {
  const pointers = new Map<SandboxPath, WorkspacePath>()
  for (const { path, kind, is } of code) {
    if (is !== 'git-pointer' || kind !== 'file' || basename(path) !== '.git') continue
    const named = /^gitdir: ([^\n\0]+)\n?$/.exec((await readRegularAt(join(root, path), 8_192))?.toString('utf8') ?? '')?.[1]
    if (named !== undefined) pointers.set(sandboxPath(resolve(workspace, dirname(path), named)), workspacePath(dirname(path)))
  }
  return pointers
}

interface Uninitialised {
  readonly path: WorkspacePath
  readonly is: 'nothing' | 'readonly'
  readonly isMissing: boolean
}

/**
 * The folders of submodules that have no repository: whoever makes one there has the owner's `git status` go into it. What is missing is made as an empty folder, by what lies
 * highest of it; an empty `.git` would not do, git gives up at it.
 */
function uninitialised(
  made: readonly PrivateGit[],
  trees: ReadonlyMap<SandboxPath, WorkspacePath>,
  root: HostPath,
): Uninitialised[] {
  const folders = new Map<WorkspacePath, Uninitialised>()
  for (const { path, known } of made) {
    const tree = trees.get(path)
    for (const gitlink of (tree !== undefined && readKnown(known)?.gitlinks) || []) {
      let at = tree!
      let found: Stats | undefined
      for (const name of gitlink.split('/')) {
        at = workspacePath(join(at, name))
        found = lstatSync(join(root, at), { throwIfNoEntry: false })
        if (!found?.isDirectory()) break
      }
      if (!found) folders.set(at, { path: at, is: 'nothing', isMissing: true })
      else if (found.isDirectory() && !lstatSync(join(root, at, '.git'), { throwIfNoEntry: false }))
        folders.set(at, { path: at, is: namesIn(join(root, at)).length === 0 ? 'nothing' : 'readonly', isMissing: false })
    }
  }
  return [...folders.values()]
}
