import { execFile } from 'node:child_process'
import { randomUUID } from 'node:crypto'
import { mkdir, readdir, readFile, rename } from 'node:fs/promises'
import { join } from 'node:path'
import { promisify } from 'node:util'
import { fp } from '../../base/failpoint.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { temporarySuffix } from '../../sandbox/files/temporary.ts'
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

/** What is on disk of a copy before anybody works in it: whoever comes after a crash brings it back with that. */
export interface CopyRecord {
  /** Undefined in a copy that an earlier version made. */
  readonly original: string | undefined
  /** What the original was: see `placeAt`. */
  readonly mark?: string | undefined
  readonly isGitPrivate: boolean
  /** What is put into the original has this name until it is whole. Nobody else can have made a file of it. */
  readonly temporaryName: string
  /** All that can be brought back has been: the rest waits for a person, or for another run. */
  readonly isKept: boolean
  /** As far as the two were the same when it was made, or last brought back. */
  readonly base: Tree
}

/** The parts of a copy, in the folder that is called after it. */
export const partsOfCopy = (directory: string) => ({
  path: join(directory, 'copy'),
  recordFile: join(directory, 'base.json'),
  guardFile: join(directory, 'guard.json'),
})

/** Makes the copy, or goes on with the one that an earlier run left behind: it may hold work that was not brought back. */
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
  const { path, recordFile, guardFile } = partsOfCopy(directory)
  const isGitPrivate = plan.isGitPrivate ?? false

  await takeOver(plan, directory)
  const left = await readRecord(recordFile)
  const startedAt = performance.now()
  const record = left ?? (await makeCopy(original, directory, { ...plan, mark }))
  const cost = left ? undefined : costOf(record.base, performance.now() - startedAt)
  const { base } = record
  const bring = async () => {
    await assertSame()
    return bringBack({ copy: path, original, without: plan.without, isGitPrivate, temporaryName: record.temporaryName }, base)
  }
  const store = (isKept: boolean) => writeRecord(recordFile, { ...record, original, mark, isGitPrivate, isKept })
  if (left) {
    await settleLeft({ file: guardFile, home: plan.without, paths: plan.paths }, path)
    await bring()
    await store(false)
  }
  return {
    path,
    guardFile,
    cost,
    async bringBack() {
      const changes = await bring()
      await store(hasStayed(changes))
      return changes
    },
    async keep() {
      const kept = join(plan.folder, `${name}.kept`)
      await rename(directory, kept)
      return join(kept, 'copy')
    },
    remove: () => discardCopy(directory),
  }
}

export const hasStayed = ({ conflicts, failed }: Changes) => conflicts.length + failed.length > 0

/**
 * Removes a copy. It gets another name first: half of it, taken over by another run after a crash, would look as if the agent had removed the other half, and what is
 * missing in a copy is removed from the original.
 */
export async function discardCopy(directory: string): Promise<void> {
  const removed = `${directory}${temporarySuffix()}`
  try {
    await rename(directory, removed)
  } catch (error) {
    // Taken over by another run, or removed.
    if (isAbsence(error)) return
    throw error
  }
  await fp('copy.discard')
  await removeTree(removed)
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
  let isOurs = false
  for (const fence of fences) {
    const earlier = join(plan.folder, `${plan.task}.${fence}.copy`)
    // Only one that was left by an earlier version is not whole, and none but the newest holds work.
    if (isOurs || !(await readRecord(partsOfCopy(earlier).recordFile))) await discardCopy(earlier)
    else isOurs = await renamed(earlier, directory)
  }
}

/** False if it is gone: it was brought back by whoever clears up after tasks that have ended. */
async function renamed(from: string, to: string): Promise<boolean> {
  try {
    await rename(from, to)
    return true
  } catch (error) {
    if (isAbsence(error)) return false
    throw error
  }
}

/** It gets its name when it is whole and what is known of it is on disk. */
async function makeCopy(original: string, directory: string, plan: CopyPlan): Promise<CopyRecord> {
  const { owner, signal, isGitPrivate = false } = plan
  const unfinished = `${directory}${temporarySuffix()}`
  const { path, recordFile } = partsOfCopy(unfinished)
  await mkdir(unfinished, { mode: 0o700 })
  try {
    await copyTree(original, path, plan)
    if (process.getuid?.() === 0) await run('chown', ['-R', '-h', `${owner.uid}:${owner.gid}`, '--', path], { signal, env })
    const base = await readTree(path, signal)
    const record = { original, mark: plan.mark, isGitPrivate, temporaryName: newTemporaryName(), isKept: false, base }
    await writeRecord(recordFile, record)
    await rename(unfinished, directory)
    return record
  } catch (error) {
    await removeTree(unfinished)
    throw new PawlError(
      'unavailable',
      `The workspace ${original} could not be copied for the agent's user: ${messageOf(error)}`,
      {
        cause: error,
      },
    )
  }
}

const newTemporaryName = () => `.pawl-${randomUUID()}.tmp`

export const writeRecord = (file: string, { base, ...record }: CopyRecord) =>
  writeFileDurably(file, JSON.stringify({ ...record, base: [...base] }))

/** Undefined if there is none, or half of one. */
export async function readRecord(file: string): Promise<CopyRecord | undefined> {
  try {
    const read = JSON.parse(await readFile(file, 'utf8'))
    // Earlier versions wrote nothing but the base.
    if (Array.isArray(read))
      return { original: undefined, isGitPrivate: false, temporaryName: newTemporaryName(), isKept: false, base: new Map(read) }
    return { ...read, base: new Map(read.base) }
  } catch {
    return undefined
  }
}
