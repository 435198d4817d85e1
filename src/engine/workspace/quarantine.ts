import { mkdirSync } from 'node:fs'
import { mkdir, readdir, readFile, rm } from 'node:fs/promises'
import { basename, dirname, join } from 'node:path'
import { z } from 'zod'
import { isInside, workspacePath, workspacePathIfAny } from '../../domain/base/path.ts'
import { messageOf, notFound } from '../../domain/error.ts'
import { inFolderOf, isAbsence, isThere, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { entryIfAny } from '../../sandbox/files/entry.ts'
import { makeFolders } from '../../sandbox/files/make-folders.ts'
import { moveEntry } from '../../sandbox/files/move-entry.ts'
import { removeEntry } from '../../sandbox/files/remove-tree.ts'
import { writeNew } from '../../sandbox/files/write-new.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import { takingTurns } from '../base/turns.ts'
import { putBack } from './capture.ts'
import type { Planted } from './find-planted.ts'
import { gathered, mostSingly } from './gather.ts'

/** What one run planted, kept under its own path where nothing reads it. */
const Quarantined = z.object({
  run: z.string(),
  workspace: z.string(),
  items: z.array(z.object({ path: z.string(), runs: z.string(), instead: z.enum(['nothing', 'earlier', 'cleaned']) })),
})
export type Quarantined = z.infer<typeof Quarantined>

export interface QuarantineResult {
  /** Undefined if nothing was moved. */
  readonly keptAt: string | undefined
  readonly items: Quarantined['items']
  readonly failed: readonly { readonly path: string; readonly why: string }[]
}

const placeOf = (home: string, run: string) => {
  if (!/^[\w-]+$/.test(run)) throw notFound(`"${run}" is no id of a run; "pawl quarantine ls" shows those there are.`)
  const folder = join(home, 'quarantine', run)
  return { folder, files: join(folder, 'files'), replaced: join(folder, 'replaced'), list: join(folder, 'list.json') }
}

/**
 * Moves what was planted out of the workspace and puts back what was there before. One that cannot be moved does not stop the others. The list of all comes
 * first, once and durably: what it names and is not there is still in the workspace. `earlierAt` is what was at a path before the run.
 */
export async function quarantine(
  { home, run, root, workspace }: { home: string; run: string; root: string; workspace: string },
  found: readonly Planted[],
  earlierAt: (path: string) => Planted['earlier'] = () => undefined,
): Promise<QuarantineResult> {
  const place = placeOf(home, run)
  // A settling that was cut short has left a list.
  const left = (await readList(place.list))?.items ?? []
  if (found.length + left.length === 0) return { keptAt: undefined, items: [], failed: [] }
  const planted = found.length > mostSingly ? await gathered(root, found) : found
  const items = new Map(left.map((item) => [item.path, item]))
  for (const one of planted.filter(({ isHarmless }) => isHarmless !== true)) {
    const instead = one.cleaned !== undefined ? 'cleaned' : one.earlier ? 'earlier' : 'nothing'
    items.set(one.path, { path: one.path, runs: one.runs, instead })
  }
  const write = () =>
    writeFileDurably(place.list, JSON.stringify({ run, workspace, items: [...items.values()] } satisfies Quarantined))
  if (items.size > 0) {
    await mkdir(place.files, { recursive: true, mode: 0o700 })
    await write()
  }
  const failed: { path: string; why: string }[] = []
  const turn = takingTurns()
  for (const one of planted) {
    await turn()
    try {
      await moveOut(root, one.path, one.isHarmless === true ? undefined : place.files)
      if (one.cleaned !== undefined) await writeAt(root, one.path, one.cleaned)
      else if (one.earlier) await putBack(root, one.path, one.earlier)
    } catch (error) {
      failed.push({ path: one.path, why: messageOf(error) })
    }
  }
  // It may have been cut short between the two: what was there before is neither here nor there then.
  for (const { path, instead } of left) {
    const earlier = instead === 'earlier' ? earlierAt(path) : undefined
    if (earlier && (await isIn(place.files, path)) && !(await isIn(root, path))) await putBack(root, path, earlier)
  }
  for (const { path } of failed) if (!(await isIn(place.files, path))) items.delete(path)
  if (failed.length > 0) await write()
  return { keptAt: items.size > 0 ? place.files : undefined, items: [...items.values()], failed }
}

/** Everything in quarantine, newest runs last. */
export async function listQuarantine(home: string): Promise<(Quarantined & { readonly keptAt: string })[]> {
  const runs = await readdir(join(home, 'quarantine')).catch((error: unknown) => {
    if (isAbsence(error)) return []
    throw error
  })
  const lists = await Promise.all(
    runs.toSorted().map(async (run) => {
      const { list, files } = placeOf(home, run)
      const found = await readList(list)
      return found ? [{ ...found, keptAt: files }] : []
    }),
  )
  return lists.flat()
}

/** Puts what a run planted back into its workspace, all of it or one path, and answers which. What is there now is kept in its place, so that this too can be undone. */
export async function restoreFromQuarantine(home: string, run: string, path?: string): Promise<string[]> {
  const place = placeOf(home, run)
  const list = await readList(place.list)
  if (!list) throw notFound(`Nothing of the run ${run} is in quarantine; "pawl quarantine ls" shows what is.`)
  const named = path === undefined ? undefined : workspacePathIfAny(path)
  const wanted = list.items.filter(
    (item) => path === undefined || (named !== undefined && isInside(named, workspacePath(item.path))),
  )
  if (wanted.length === 0)
    throw notFound(`The run ${run} has nothing called ${path} in quarantine; "pawl quarantine ls" shows what it has.`)
  const restored = new Set<string>()
  const turn = takingTurns()
  try {
    for (const item of wanted) {
      await turn()
      // A restoring that was cut short has put it back already.
      if (await isIn(place.files, item.path)) {
        await moveOut(list.workspace, item.path, place.replaced)
        await moveIn(place.files, list.workspace, item.path)
      }
      restored.add(item.path)
    }
  } finally {
    const items = list.items.filter((item) => !restored.has(item.path))
    if (items.length > 0) await writeFileDurably(place.list, JSON.stringify({ ...list, items } satisfies Quarantined))
    else await rm(place.list, { force: true })
  }
  return [...restored]
}

/** To the same path below `to`; nowhere if there is no such folder to keep it in. An earlier one of the same name makes room. */
async function moveOut(root: string, path: string, to: string | undefined): Promise<void> {
  const parent = await openDirectory(join(root, dirname(path)))
  if (!parent) return
  const mode = (await parent.stat()).mode & 0o777
  try {
    if ((mode & 0o200) === 0) await parent.chmod(mode | 0o200)
    const from = { parent, name: basename(path) }
    if (to === undefined) return await removeEntry(from.parent, from.name)
    if (!(await entryIfAny(parent.at(from.name)))) return
    mkdirSync(to, { recursive: true, mode: 0o700 })
    const folder = await makeFolders(to, dirname(path))
    try {
      await removeEntry(folder, from.name)
      await moveEntry(from, { parent: folder, name: from.name })
    } finally {
      await folder.close()
    }
  } finally {
    if ((mode & 0o200) === 0) await parent.chmod(mode)
    await parent.close()
  }
}

/** Is something of that path there, which no link leads to? */
const isIn = async (folder: string, path: string): Promise<boolean> => (await inFolderOf(join(folder, path), isThere)) ?? false

async function moveIn(from: string, root: string, path: string): Promise<void> {
  const source = await openDirectory(join(from, dirname(path)))
  if (!source) throw notFound(`${path} is no longer in quarantine.`)
  try {
    const target = await makeFolders(root, dirname(path))
    try {
      await moveEntry({ parent: source, name: basename(path) }, { parent: target, name: basename(path) })
    } finally {
      await target.close()
    }
  } finally {
    await source.close()
  }
}

const writeAt = (root: string, path: string, text: string) =>
  inFolderOf(join(root, path), (folder, name) => writeNew(folder, name, Buffer.from(text), { mode: 0o644 }))

async function readList(file: string): Promise<Quarantined | undefined> {
  try {
    return Quarantined.parse(JSON.parse(await readFile(file, 'utf8')))
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}
