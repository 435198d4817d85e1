import { chownSync, existsSync, mkdirSync, readFileSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { join } from 'node:path'
import { z } from 'zod'
import { isAbsence } from '../../../sandbox/files/directory-handle.ts'
import { namesIn } from '../../../sandbox/files/names-in.ts'
import { removeTree } from '../../../sandbox/files/remove-tree.ts'
import type { AgentUser } from '../../../sandbox/process/agent-user.ts'
import type { Picture } from './snapshot.ts'

/** The folder in which the pictures of one run lie until what it changed is stored. Its name holds the fence, so that a run which lost its task can only touch its own. */
export interface StoreFolder {
  readonly path: string
  /** What an earlier run of the task left, that was cut off: the workspace as it was before that one. */
  readonly left: Base | undefined
  /** For whoever puts something there: many runs never do. */
  make(): void
  /** From here on whoever comes after a crash finds it. */
  keepBase(base: Base): void
}

const Base = z.object({
  /** Those that began from here, the last one last. */
  runs: z.array(z.string()),
  /** Where the files were: another mode of working is another tree. */
  picture: z.object({ tree: z.string(), large: z.record(z.string(), z.string()), nested: z.array(z.string()) }),
})
export interface Base {
  readonly runs: readonly string[]
  readonly picture: Picture
}

/** `isOpen` is asked of the runs that left something: what is stored already must not be told twice. */
export async function openStoreFolder(
  home: string,
  run: { readonly task: string; readonly fence: number },
  options: { readonly user: AgentUser | undefined; readonly isOpen: (runs: readonly string[]) => Promise<boolean> },
): Promise<StoreFolder> {
  const folder = join(home, 'changes')
  const path = storeFolderOf(home, run)
  const left = run.fence > 1 ? await takeOver(folder, run, path, options.isOpen) : undefined
  // A run that was killed may have left one of the same name.
  if (!left && existsSync(path)) await removeTree(path)
  let isMade = left !== undefined
  const make = () => {
    if (isMade) return
    mkdirSync(folder, { recursive: true, mode: 0o700 })
    mkdirSync(path, { mode: 0o700 })
    if (options.user) chownSync(path, options.user.uid, options.user.gid)
    isMade = true
  }
  return {
    path,
    left,
    make,
    keepBase(base) {
      make()
      writeBase(path, base)
    },
  }
}

function writeBase(path: string, base: Base): void {
  const file = `${path}.json`
  writeFileSync(`${file}.tmp`, JSON.stringify(base), { mode: 0o600 })
  renameSync(`${file}.tmp`, file)
}

async function takeOver(
  folder: string,
  { task, fence }: { readonly task: string; readonly fence: number },
  path: string,
  isOpen: (runs: readonly string[]) => Promise<boolean>,
): Promise<Base | undefined> {
  const fences = namesIn(folder)
    .filter((name) => name.startsWith(`${task}.`) && !name.endsWith('.json'))
    .map((name) => Number(name.slice(task.length + 1)))
    .filter((other) => other < fence)
    .toSorted((one, other) => other - one)
  let found: Base | undefined
  for (const other of fences) {
    const earlier = join(folder, `${task}.${other}`)
    const base = found ? undefined : readBase(`${earlier}.json`)
    if (base && (await isOpen(base.runs))) {
      // Whoever comes after a crash between two of these finds the folder beside a record of its own name, under one name or the other.
      writeBase(path, base)
      renameSync(earlier, path)
      rmSync(`${earlier}.json`, { force: true })
      found = base
    } else await removeStore(earlier)
  }
  return found
}

/** Undefined if there is none, or only half of one: then nothing was begun from it. */
function readBase(file: string): Base | undefined {
  try {
    return Base.parse(JSON.parse(readFileSync(file, 'utf8')))
  } catch (error) {
    if (error instanceof SyntaxError || error instanceof z.ZodError || isAbsence(error)) return undefined
    throw error
  }
}

/** The record first: without it the rest is nothing. */
export async function removeStore(path: string): Promise<void> {
  rmSync(`${path}.json`, { force: true })
  if (existsSync(path)) await removeTree(path)
}

export const storeFolderOf = (home: string, run: { readonly task: string; readonly fence: number }) =>
  join(home, 'changes', `${run.task}.${run.fence}`)

/** One on the shelf of this process. */
export const shelfName = (number: number) => `kept-${process.pid}-${number}`
const shelfForm = /^kept-(\d+)-\d+$/

/** Removes what was left of tasks that have ended: `open` answers which of them have not. */
export async function sweepStores(home: string, open: (tasks: readonly string[]) => Promise<ReadonlySet<string>>): Promise<void> {
  const names = namesIn(join(home, 'changes'))
  if (names.length === 0) return
  const taskOf = (name: string) => name.split('.')[0] ?? ''
  const going = await open([...new Set(names.map(taskOf))])
  const isWanted = (name: string) => going.has(taskOf(name)) || isAlive(Number(shelfForm.exec(name)?.[1]))
  for (const name of names) if (!isWanted(name)) await removeTree(join(home, 'changes', name))
}

function isAlive(pid: number): boolean {
  if (!Number.isSafeInteger(pid) || pid === process.pid) return false
  try {
    process.kill(pid, 0)
    return true
  } catch {
    return false
  }
}
