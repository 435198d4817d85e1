import { realpathSync } from 'node:fs'
import { basename, dirname, join, resolve } from 'node:path'
import {
  type HostPath,
  hostPath,
  isBelow,
  isInside,
  parentOf,
  pathIn,
  relativeTo,
  type SandboxPath,
  type Shown,
  type WorkspacePath,
  workspacePath,
} from '../../domain/base/path.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import { readRegularAt } from '../../sandbox/files/read-file.ts'
import type { Mask } from '../../sandbox/port.ts'
import { mostCodeBytes } from './capture.ts'
import type { FoundAll, FoundCode } from './find-code.ts'
import { cleanGitConfig } from './git-config.ts'

/** How the code in a workspace is kept from being obeyed and from being changed while a run lasts. */
export interface MaskPlan {
  readonly masks: readonly PlannedMask[]
  /** Empty folders that have to be made before the start, because only what exists can be covered. */
  readonly stubs: readonly string[]
  /** Paths of what is covered by a mask, and so cannot have been changed by the agent. */
  readonly held: ReadonlySet<string>
  /** Existing paths that the agent does not see: git inside would take them for deleted. */
  readonly unseen: readonly string[]
  /** Code that stays open to the agent because there is too much of it. */
  readonly open: number
}

/** `text` is what is shown instead; whoever applies the plan writes it to a file of ours. */
export type PlannedMask =
  | Exclude<Mask, { kind: 'instead' }>
  | { readonly kind: 'text'; readonly path: SandboxPath; readonly text: string }

export interface MaskOptions {
  readonly workspace: Shown
  readonly found: FoundAll
  /** With the settings of git, which may name something in the workspace. */
  readonly settings: FoundAll
  /** Of what does not exist, these names are covered all the same. */
  readonly reserved: readonly CodePath[]
  /** Are instruction files given to the agent? */
  readonly instructions: boolean
}

/** Every mask is a mount, made anew for each start: beyond this the start would be felt. What is left over is looked at when the run ends. */
const mostMasks = 256

export async function planMasks({ workspace, found, settings, reserved, instructions }: MaskOptions): Promise<MaskPlan> {
  const seen = (path: string) => pathIn(workspace.path, workspacePath(path))
  const masks: PlannedMask[] = []
  const held = new Set<string>()
  const unseen: string[] = []
  let open = 0
  // What lies highest matters most: it is found first by every program.
  for (const code of found.code.toSorted((a, b) => depth(a.path) - depth(b.path))) {
    const mask = await maskFor(code)
    if (!mask) continue
    if (masks.length >= mostMasks) {
      open++
      continue
    }
    masks.push(mask)
    if (code.kind !== 'link') held.add(code.path)
    if (mask.kind === 'nothing' && code.is !== 'git-hooks') unseen.push(code.path)
  }
  for (const path of await namedByGit(workspace.source, settings)) {
    masks.push({ kind: 'readonly', path: seen(path) })
    held.add(path)
  }
  const stubs = stubsFor(found, reserved)
  return {
    masks: outermost([...masks, ...stubs.map((path): PlannedMask => ({ kind: 'nothing', path: seen(path) }))]),
    stubs,
    held,
    unseen,
    open,
  }

  async function maskFor(code: FoundCode): Promise<PlannedMask | undefined> {
    const path = seen(code.path)
    if (code.is === 'flagged' || code.is === 'secret' || code.is === 'dot' || code.kind === 'other') return undefined
    if (code.kind === 'link') return code.is === 'text' ? undefined : maskBehind(code)
    if (code.is === 'text') return instructions ? undefined : { kind: 'nothing', path }
    if (code.is === 'hidden' || (code.is === 'git-hooks' && code.kind === 'directory')) return { kind: 'nothing', path }
    if (code.is === 'git-config' && code.kind === 'file')
      return { kind: 'text', path, text: cleanGitConfig(await textOf(workspace.source, code.path)).text }
    return { kind: 'readonly', path }
  }

  /** A link cannot be covered, but what it leads to can be held, if that lies in the workspace. Elsewhere the agent cannot write. */
  function maskBehind(code: FoundCode): PlannedMask | undefined {
    try {
      const root = hostPath(realpathSync(workspace.source))
      const target = relativeTo(root, hostPath(realpathSync(join(root, code.path))))
      return target === undefined || target === '.' ? undefined : { kind: 'readonly', path: pathIn(workspace.path, target) }
    } catch {
      // It leads nowhere; what is put there comes out when the run ends.
      return undefined
    }
  }
}

/** What the settings of a repository in the workspace name there: hooks in a folder of the project, more settings, a filter. Git outside obeys it later. */
async function namedByGit(root: HostPath, found: FoundAll): Promise<WorkspacePath[]> {
  const named = new Set<WorkspacePath>()
  for (const { path } of found.code.filter(({ is, kind }) => is === 'git-config' && kind === 'file')) {
    const gitdir = pathIn(root, workspacePath(dirname(path)))
    const values = cleanGitConfig(await textOf(root, path)).values
    for (const word of values.flatMap((value) => value.split(/[\s"'!;|&()]+/)).filter((one) => one !== ''))
      for (const from of [gitdir, dirname(gitdir)]) {
        const target = realpathIfAny(resolve(from, word))
        // The project as a whole must stay writable, and what lies in the folder of git itself is covered with it.
        if (target && isBelow(root, target) && !isInside(target, gitdir) && !isInside(gitdir, target))
          named.add(relativeTo(root, target)!)
      }
  }
  return [...named].slice(0, 50)
}

function realpathIfAny(path: string): HostPath | undefined {
  try {
    return hostPath(realpathSync(path))
  } catch {
    // A word of a command, or a path that nobody can look at.
    return undefined
  }
}

/** Below what is covered there is nothing left to cover. */
function outermost(masks: readonly PlannedMask[]): PlannedMask[] {
  const byPath = new Map(masks.toReversed().map((mask) => [mask.path, mask]))
  const isCovered = (path: SandboxPath): boolean => path !== '/' && (byPath.has(parentOf(path)) || isCovered(parentOf(path)))
  return [...byPath.values()].filter(({ path }) => !isCovered(path)).toReversed()
}

/** Names at the top of the workspace that nobody may make, and a place for hooks in every repository that has none. */
function stubsFor(found: FoundAll, paths: readonly CodePath[]): string[] {
  const there = new Set(found.code.map(({ path }) => path.toLowerCase()))
  const reserved = paths.filter(({ path, reserve }) => reserve && !there.has(path.toLowerCase())).map(({ path }) => path)
  const hooks = found.repositories
    .filter((path) => basename(dirname(path)) !== 'worktrees' && !there.has(`${path}/hooks`.toLowerCase()))
    .slice(0, mostMasks)
    .map((path) => join(path, 'hooks'))
  return [...reserved, ...hooks]
}

const textOf = async (root: string, path: string): Promise<string> =>
  (await readRegularAt(join(root, path), mostCodeBytes))?.toString('utf8') ?? ''

const depth = (path: string) => path.split('/').length
