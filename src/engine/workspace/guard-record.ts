import { createHash } from 'node:crypto'
import { mkdirSync, unlinkSync, writeFileSync } from 'node:fs'
import { readFile } from 'node:fs/promises'
import { dirname, join } from 'node:path'
import { z } from 'zod'
import { hostPath, sandboxPath } from '../../domain/base/path.ts'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import { namesIn } from '../../sandbox/files/names-in.ts'
import { isAlive } from '../../sandbox/process/identity.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import { withLock } from '../../store/embedded/lock.ts'
import { PrivateGit } from './private-git/make.ts'

const Part = z.object({
  path: z.string(),
  kind: z.enum(['file', 'directory', 'link']),
  mode: z.number(),
  content: z.string().exactOptional(),
})

/** What is known of a path of code before a run. */
const Before = z.object({
  path: z.string(),
  id: z.string(),
  /** It was covered while the run lasted: as long as it is the same file, the agent did not touch it. */
  held: z.boolean(),
  /** To tell a change, and a copy of it elsewhere. */
  digest: z.string().exactOptional(),
  /** Of what was not covered, to undo a change. */
  parts: z.array(Part).exactOptional(),
})
export type Before = z.infer<typeof Before>

/** What a run did to a workspace for its own safety, and how the workspace was before: on disk before anything is done, so that a crash leaves nothing behind. */
export const GuardRecord = z.object({
  run: z.string(),
  /** Where the files are, and what the user calls the place. */
  root: z.string().transform(hostPath),
  workspace: z.string().transform(sandboxPath),
  owner: z.object({ bootId: z.string(), pid: z.number(), startTime: z.number() }),
  /** False where no walls hold: then what was planted is told and stays where it is. */
  enforced: z.boolean(),
  /** The tree was looked through; something that was done to it is still to be undone. */
  isSettled: z.boolean(),
  /** Empty folders that were made. */
  stubs: z.array(z.string()),
  /** Git directories that the agent got instead of the real ones. */
  git: z.array(PrivateGit),
  /** The real ones in the workspace, at which the agent did not get. */
  covered: z.array(z.string()),
  before: z.array(Before),
  /** What could not be looked into then. */
  unseen: z.array(z.string()),
  /** Folders that had a set-group-ID, set-user-ID or sticky bit then; and when then was. */
  special: z.array(z.string()).exactOptional(),
  since: z.number().exactOptional(),
})
export type GuardRecord = z.infer<typeof GuardRecord>

export const guardFolder = (home: string) => join(home, 'guards')

/** By its name it is told which place a record is of, without opening all of them. */
export const recordFile = (home: string, root: string, run: string) => join(guardFolder(home), `${markOf(root)}.${run}.json`)
const markOf = (root: string) => createHash('sha256').update(root).digest('hex').slice(0, 16)

/**
 * Durable before anything is done to the workspace. Where nothing is done, because no walls hold or the folder is one of ours with nothing in it, a loss of power costs no more
 * than a line of what was planted.
 */
export async function writeRecord(file: string, record: GuardRecord, { durably }: { readonly durably: boolean }): Promise<void> {
  const text = JSON.stringify(record)
  const write = async () => (durably ? writeFileDurably(file, text) : writeFileSync(file, text, { mode: 0o600 }))
  await write().catch((error: unknown) => {
    if (!isAbsence(error)) throw error
    // The first one of a home.
    mkdirSync(dirname(file), { recursive: true, mode: 0o700 })
    return write()
  })
}

/** Undefined if there is none, or not a whole one: then nothing was done yet. */
export async function readRecord(file: string): Promise<GuardRecord | undefined> {
  try {
    return GuardRecord.safeParse(JSON.parse(await readFile(file, 'utf8'))).data
  } catch (error) {
    if (isAbsence(error) || error instanceof SyntaxError) return undefined
    throw error
  }
}

export function removeRecord(file: string): void {
  try {
    unlinkSync(file)
  } catch (error) {
    if (!isAbsence(error)) throw error
  }
}

/** The records of all runs that work in place, or of those in one place, but for one. */
export async function allRecords(
  home: string,
  root?: string,
  without?: string,
): Promise<{ readonly file: string; readonly record: GuardRecord }[]> {
  const folder = guardFolder(home)
  const names = namesIn(folder)
  const mark = root === undefined ? '' : `${markOf(root)}.`
  const found = await Promise.all(
    names
      .filter((name) => name.endsWith('.json') && name.startsWith(mark))
      .map((name) => join(folder, name))
      .filter((file) => file !== without)
      .map(async (file) => ({ file, record: await readRecord(file) })),
  )
  return found.flatMap(({ file, record }) => (record ? [{ file, record }] : []))
}

/** What other living runs did in the same place: they need it as long as they last. */
export async function livingOthers(home: string, root: string, file: string): Promise<GuardRecord[]> {
  const all = await allRecords(home, root, file)
  return all.filter(({ record }) => record.root === root && !isLeft(record)).map(({ record }) => record)
}

/**
 * One at a time puts guards into a place or takes them out of it, in all processes of this home: what one reads of the others must hold until it has done its own part.
 * Places share locks by the beginning of their marks, so that their number is bounded. Not to be asked for by whoever has it.
 */
export async function underGuardLock<T>(home: string, root: string, work: () => Promise<T>): Promise<T> {
  const folder = join(home, 'workspace.locks', markOf(root).slice(0, 2))
  mkdirSync(folder, { recursive: true, mode: 0o700 })
  return withLock(folder, work, { busyWith: 'putting a workspace in order' })
}

/** Is whoever wrote it dead for certain? After a restart of the machine nobody lives; the records lie on its own disk. */
export const isLeft = ({ owner }: GuardRecord) => isAlive(owner) !== true
