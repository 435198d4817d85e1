import { basename, join, relative } from 'node:path'
import { hostPath, isInside, workspacePath } from '../../domain/base/path.ts'
import { messageOf } from '../../domain/error.ts'
import type { CodePath } from '../../domain/workspace/code-paths.ts'
import { inFolderOf, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { removeEntry } from '../../sandbox/files/remove-tree.ts'
import { isMadeBy } from '../../sandbox/files/temporary.ts'
import { capture } from './capture.ts'
import { findCode } from './find-code.ts'
import { findPlanted } from './find-planted.ts'
import {
  allRecords,
  type GuardRecord,
  isLeft,
  livingOthers,
  readRecord,
  removeRecord,
  underGuardLock,
  writeRecord,
} from './guard-record.ts'
import { bringGitBack, newWorktrees } from './private-git/bring-back.ts'
import { sweepPrivateGits } from './private-git/private-gits.ts'
import { quarantine } from './quarantine.ts'
import { clearSpecialBits, type Special } from './special.ts'
import { parkStubs, removeStubs, sweepParked } from './stubs.ts'

export interface Settled {
  /** What was moved to quarantine, or cleaned with the original kept there. */
  readonly quarantined: readonly string[]
  readonly keptAt: string | undefined
  /** The user's own work that will run one day, and was changed; without walls also what would have been moved. */
  readonly flagged: readonly string[]
  /** What the reader of the run should know of what was found. */
  readonly notes: readonly string[]
  /** For the result, if something was moved or could not be. */
  readonly sentence: string | undefined
  /** Was all that was reserved put aside, to be covered as before in the next run? */
  readonly areParked: boolean
}

export interface GuardPlace {
  readonly file: string
  readonly home: string
  readonly paths: readonly CodePath[]
}

const untouched: Settled = { quarantined: [], keptAt: undefined, flagged: [], notes: [], sentence: undefined, areParked: false }

/**
 * Undoes what a guard did and moves out what was planted. May be called again after a crash half way, by whoever finds the record. With `parked`, a folder of ours, what was
 * reserved is put aside there for a program that is kept.
 */
export async function settleRecord(record: GuardRecord, place: GuardPlace, parked?: string): Promise<Settled> {
  const { root, workspace } = record
  const { home, paths } = place
  if (record.isSettled) {
    await releaseRecord(record, place)
    return untouched
  }
  const there = await openDirectory(root)
  await there?.close()
  // Gone, or taken over by another run under another name, which settles it.
  if (!there) {
    removeRecord(place.file)
    return untouched
  }
  const others = await livingOthers(home, root, place.file)
  const troubles: string[] = []
  const areParked = await undo(record, others, parked).catch((error: unknown) => {
    troubles.push(messageOf(error))
    return false
  })
  const afterRun = record.enforced ? { unseenBefore: record.unseen } : undefined
  const now = await findCode(root, { paths, without: home, seenAs: workspace, afterRun })
  // A stub that others need was not there before either.
  const stubs = new Set(others.flatMap((other) => other.stubs))
  const covered = record.covered.map(workspacePath)
  const isCovered = (path: string) => covered.some((git) => isInside(git, workspacePath(path)))
  const code = []
  // Our own tools were writing a file when we were killed.
  for (const one of now.code)
    if (isLeft(record) && basename(one.path).startsWith('.pawl.') && isMadeBy(one.path, record.owner))
      await inFolderOf(join(root, one.path), removeEntry)
    else if (!isCovered(one.path) && !(stubs.has(one.path) && (await isEmpty(root, one.path)))) code.push(one)
  const worktrees: string[] = []
  for (const git of record.git) worktrees.push(...(await newWorktrees(git, { root, workspace })))
  const repositories = [...now.repositories, ...worktrees.map((path) => relative(workspace, path))]
  const found = await findPlanted(record.before, { ...now, code, repositories }, { root, workspace })
  const special = await specialOf(record).catch((error: unknown) => {
    troubles.push(messageOf(error))
    return { cleared: [], left: [] }
  })
  const moved = record.enforced
    ? await quarantine(
        { home, run: record.run, root, workspace },
        found.planted,
        (path) => record.before.find((one) => one.path === path)?.parts,
      )
    : { keptAt: undefined, items: [], failed: [] }
  // Only now: what git would go into is out of its way.
  const notBrought = await bringBack(record).catch((error: unknown) => {
    troubles.push(messageOf(error))
    return []
  })
  // What could not be undone is tried again by whoever comes next; the picture of before is too old by then.
  if (troubles.length > 0) await writeRecord(place.file, { ...record, before: [], isSettled: true }, { durably: record.enforced })
  else removeRecord(place.file)
  const quarantined = moved.items.map(({ path }) => path)
  const left = record.enforced ? moved.failed.map(({ path, why }) => `${path} (${why})`) : []
  return {
    quarantined,
    keptAt: moved.keptAt,
    flagged: [
      ...(record.enforced ? [] : found.planted.map(({ path }) => path)),
      ...special.cleared,
      ...special.left.slice(0, mostLeft),
      ...found.flagged,
    ],
    notes: notesOf(special),
    sentence: sentenceOf(quarantined, moved.keptAt, { left: [...left, ...troubles], notBrought, run: record.run }),
    areParked,
  }
}

const mostLeft = 50

/** Without a sandbox nothing is changed: what is there may be the user's own. */
const specialOf = async ({ root, enforced, since, special = [] }: GuardRecord): Promise<Special> =>
  enforced && since !== undefined ? clearSpecialBits(root, { since, before: new Set(special) }) : { cleared: [], left: [] }

const notesOf = ({ cleared, left }: Special) => [
  ...(cleared.length > 0 ? [`Set-user-ID, set-group-ID and sticky bits were taken from: ${some(cleared)}.`] : []),
  ...(left.length > 0
    ? [`Pipes, sockets or devices were left in the workspace, and who opens one may wait for ever: ${some(left)}.`]
    : []),
]

/** Undoes what was done to the tree, brings back what git did, and no more. */
export async function releaseRecord(record: GuardRecord, place: GuardPlace): Promise<void> {
  await undo(record, await livingOthers(place.home, record.root, place.file))
  await bringBack(record)
  removeRecord(place.file)
}

async function bringBack(record: GuardRecord): Promise<string[]> {
  const { git, run, root, workspace } = record
  const left: string[] = []
  for (const one of git) left.push(...(await bringGitBack(one, { run, root, workspace, wasCut: isLeft(record) })))
  return left
}

/** Answers whether all that was reserved could be put aside. */
async function undo({ root, stubs }: GuardRecord, others: readonly GuardRecord[], parked?: string): Promise<boolean> {
  const needed = new Set(others.flatMap((other) => other.stubs))
  const ours = stubs.filter((path) => !needed.has(path))
  const areParked = parked !== undefined && (await parkStubs(root, ours, parked))
  await removeStubs(root, ours)
  return areParked
}

export type SettledRun = Settled & { readonly run: string }

/** Settles what dead processes left in places they worked in, and answers what was found, by run. Call it when nothing that they started lives. */
export async function sweepGuards(home: string, paths: readonly CodePath[]): Promise<SettledRun[]> {
  await sweepParked(home)
  const settled: SettledRun[] = []
  const roots = new Set((await allRecords(home)).flatMap(({ record }) => (isLeft(record) ? [record.root] : [])))
  for (const root of roots) settled.push(...(await underGuardLock(home, root, () => settleDead(home, root, paths))))
  const named = (await allRecords(home)).flatMap(({ record }) => record.git.map(({ git }) => git))
  await sweepPrivateGits(home, new Set(named))
  return settled
}

/** Settles what one run of a dead process left, before its task may run again: what it covered must not be taken away from under the next run. */
export async function settleGuardsOf(run: string, home: string, paths: readonly CodePath[]): Promise<SettledRun[]> {
  const left = (await allRecords(home)).find(({ record }) => record.run === run && isLeft(record))
  return left ? underGuardLock(home, left.record.root, () => settleDead(home, left.record.root, paths)) : []
}

/** Settles what dead processes left in one place, for whoever has it to himself. */
export async function settleDead(home: string, root: string, paths: readonly CodePath[]): Promise<SettledRun[]> {
  const settled: SettledRun[] = []
  for (const { file, record } of await allRecords(home, root))
    if (record.root === root && isLeft(record))
      settled.push({ run: record.run, ...(await settleRecord(record, { file, home, paths })) })
  return settled
}

/** Settles what an earlier run left in a copy that now lies at `root`. */
export async function settleLeft(place: GuardPlace, root: string): Promise<Settled> {
  return underGuardLock(place.home, root, async () => {
    const record = await readRecord(place.file)
    return record ? settleRecord({ ...record, root: hostPath(root) }, place) : untouched
  })
}

const isEmpty = async (root: string, path: string) => {
  const parts = (await capture(root, path, { keep: true }))?.parts
  return parts?.length === 1 && (parts[0]?.content ?? '') === ''
}

function sentenceOf(
  moved: readonly string[],
  keptAt: string | undefined,
  { left, notBrought, run }: { left: readonly string[]; notBrought: readonly string[]; run: string },
): string | undefined {
  const told: string[] = []
  if (moved.length > 0)
    told.push(
      `${moved.length === 1 ? '1 file that other programs would execute was' : `${moved.length} files that other programs would execute were`} moved to ${keptAt}: ${some(moved)}. If wanted: pawl quarantine restore ${run}.`,
    )
  if (left.length > 0) told.push(`Not everything could be put in order in the workspace: ${some(left)}.`)
  told.push(...notBrought)
  return told.length > 0 ? told.join(' ') : undefined
}

const some = (paths: readonly string[]) => [...paths.slice(0, 10), ...(paths.length > 10 ? ['…'] : [])].join(', ')
