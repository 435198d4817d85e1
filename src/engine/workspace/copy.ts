import { execFile } from 'node:child_process'
import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import { bringBack, type Changes } from './bring-back.ts'
import { copyTree, env, type TreeToCopy } from './copy-tree.ts'
import { placeAt, realPlace } from './same-place.ts'
import { settleLeft } from './settle-guard.ts'
import { readTree, type Tree } from './tree.ts'

const run = promisify(execFile)

/**
 * A copy of a workspace that an unprivileged user may write, for the time of a run. What changed in it is brought back afterwards; what the owner changed
 * meanwhile is never overwritten. The agent is dead when we bring back, and it never had the original.
 */
export interface WorkspaceCopy {
  readonly path: string
  /** Where the record of what guards it lies: it moves with the copy. */
  readonly guardFile: string
  /** What making it took; undefined if an earlier run had made it. */
  readonly cost: CopyCost | undefined
  bringBack(): Promise<Changes>
  /** Puts it where no later run takes it over, for a person to look at; answers where. */
  keep(): Promise<string>
  remove(): Promise<void>
}

export interface CopyCost {
  readonly files: number
  readonly bytes: number
  readonly ms: number
}

export interface CopyPlan extends TreeToCopy {
  readonly original: string
  /** The folder of copies, and whose this one is: its name holds the fence, so that a run which lost its task can only touch its own. */
  readonly folder: string
  readonly task: string
  readonly fence: number
  readonly owner: { readonly uid: number; readonly gid: number }
  /** The agent gets git directories of its own (see private-git), and not those of the copy. */
  readonly isGitPrivate?: boolean | undefined
  /** What is code: an earlier run that died may have planted some, which must not be brought back. */
  readonly paths: readonly CodePath[]
}

/** Makes the copy, or goes on with the one that an earlier run left behind complete: it may hold work that was not brought back. */
export async function copyWorkspace(plan: CopyPlan): Promise<WorkspaceCopy> {
  // No link is followed: whoever works around it may have put one in its place since it was looked at, and what is changed in the copy is brought back there.
  const original = realPlace(plan.original, plan.without)
  const mark = plan.mark ?? (await placeAt(original))
  const assertSame = async () => {
    if (process.platform === 'linux' && (mark === undefined || (await placeAt(original)) !== mark))
      throw new PawlError(
        'conflict',
        `The workspace ${plan.original} is gone, or was exchanged for something else; put the folder back.`,
      )
  }
  await assertSame()
  const name = `${plan.task}.${plan.fence}`
  const directory = join(plan.folder, `${name}.copy`)
  const path = join(directory, 'copy')
  const baseFile = join(directory, 'base.json')
  const store = (tree: Tree) => writeFileDurably(baseFile, JSON.stringify([...tree]))

  await takeOver(plan, directory)
  const left = await readBase(baseFile)
  const startedAt = performance.now()
  const base = left ?? (await makeCopy(original, directory, path, { ...plan, mark }))
  const cost = left ? undefined : costOf(base, performance.now() - startedAt)
  const guardFile = join(directory, 'guard.json')
  const bring = async () => {
    await assertSame()
    const changes = await bringBack({ copy: path, original, without: plan.without, isGitPrivate: plan.isGitPrivate }, base)
    await store(base)
    return changes
  }
  if (left) {
    await settleLeft({ file: guardFile, home: plan.without, paths: plan.paths }, path)
    await bring()
  } else await store(base)
  return {
    path,
    guardFile,
    cost,
    bringBack: bring,
    async keep() {
      const kept = join(plan.folder, `${name}.kept`)
      await rename(directory, kept)
      return join(kept, 'copy')
    },
    remove: () => removeTree(directory),
  }
}

function costOf(tree: Tree, ms: number): CopyCost {
  let [files, bytes] = [0, 0]
  for (const { kind, size } of tree.values()) {
    if (kind !== 'file') continue
    files++
    bytes += size
  }
  return { files, bytes, ms: Math.round(ms) }
}

/** The newest copy of an earlier run becomes ours by its name. One with a later fence belongs to whoever took the task from us. */
async function takeOver(plan: CopyPlan, directory: string): Promise<void> {
  await mkdir(plan.folder, { recursive: true, mode: 0o700 })
  const fences = (await readdir(plan.folder))
    .filter((name) => name.startsWith(`${plan.task}.`) && name.endsWith('.copy'))
    .map((name) => Number(name.slice(plan.task.length + 1, -'.copy'.length)))
    .filter((fence) => fence < plan.fence)
    .toSorted((a, b) => b - a)
  for (const fence of fences) {
    const earlier = join(plan.folder, `${plan.task}.${fence}.copy`)
    if (!(await readBase(join(earlier, 'base.json')))) await removeTree(earlier)
    else {
      await rename(earlier, directory)
      return
    }
  }
}

async function makeCopy(original: string, directory: string, path: string, plan: CopyPlan): Promise<Tree> {
  const { owner, signal } = plan
  await removeTree(directory)
  await mkdir(directory, { mode: 0o700 })
  try {
    await copyTree(original, path, plan)
    if (process.getuid?.() === 0) await run('chown', ['-R', '-h', `${owner.uid}:${owner.gid}`, '--', path], { signal, env })
    return await readTree(path, signal)
  } catch (error) {
    await removeTree(directory)
    throw new PawlError(
      'unavailable',
      `The workspace ${original} could not be copied for the agent's user: ${messageOf(error)}`,
      {
        cause: error,
      },
    )
  }
}

async function readBase(file: string): Promise<Tree | undefined> {
  try {
    return new Map(JSON.parse(await readFile(file, 'utf8')))
  } catch {
    // None, or half-written by a crash while copying: then the copy is made anew.
    return undefined
  }
}
