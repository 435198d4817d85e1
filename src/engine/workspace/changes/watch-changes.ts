import { hostPath } from '../../../domain/base/path.ts'
import { messageOf } from '../../../domain/error.ts'
import type { Sandbox, Walls } from '../../../sandbox/port.ts'
import { noChanges, type RunChanged, unknownChanges } from '../../../store/changes.ts'
import { isPassing } from '../../../store/database.ts'
import { isLost, type RunContext } from '../../base/run-context.ts'
import type { BroughtBack, PreparedWorkspace } from '../workspace.ts'
import { differenceOf } from './difference.ts'
import { readKept } from './read-kept.ts'
import { emptyPicture, NoPicture, type Picture, type PicturePlace, takePicture } from './snapshot.ts'
import type { PictureShelf } from './snapshot-cache.ts'
import { type Glance, glanceAt } from './stat-signature.ts'
import { type Base, openStoreFolder, type StoreFolder } from './store-folder.ts'
import { summariseBrought, summariseDifference } from './summary.ts'

/** Tells what a run changed in its workspace, and brings it back where the run worked on a copy. */
export interface ChangeReport {
  /** Resolves when the workspace is pictured as it is before the run, or cannot be: from here on the agent may work. */
  readonly isPictured: Promise<void>
  /** Answers a sentence if some of the agent's work is not in the workspace. `isLast` says that no further run goes on with it. */
  finish(isLast: boolean): Promise<string | undefined>
}

export interface WatchContext {
  readonly run: { readonly id: string; readonly task: string; readonly fence: number }
  readonly home: string
  readonly sandbox: Sandbox
  readonly walls: Omit<Walls, 'door'>
  readonly path: string
  readonly voice: RunContext
  /** Takes secrets out of a text. */
  readonly redact: (text: string) => string
  /** Are all of these runs such that nobody has stored what they changed? */
  readonly isOpen: (runs: readonly string[]) => Promise<boolean>
  /** The runs before this one of which nobody has stored what they changed, if nothing is known of any other. */
  readonly openBefore: () => Promise<readonly string[] | undefined>
  /** The workspace was made for this task: there was nothing in it before the first of its runs. */
  readonly isNew: boolean
  readonly shelf: PictureShelf
}

/** Looks at the workspace now, while all else is prepared, and again when the run ends. Git runs inside the same walls, because the tree may be hostile. */
export function watchChanges(workspace: PreparedWorkspace, context: WatchContext): ChangeReport {
  const { voice } = context
  const before = pictureBefore(context)
  const tell = async () => {
    const first = await before
    const changed: RunChanged =
      'why' in first ? { ...unknownChanges, ...first } : await compare(first, context, workspace.mode === 'direct')
    voice.keepChanges(changed)
    return changed
  }
  return {
    isPictured: before.then(() => undefined),
    async finish(isLast) {
      // A copy is gone when it is brought back.
      const changed = await tell()
      // To look took its time: somebody else may have the task by now, and the copy with it.
      await voice.watch.untilConfirmed()
      if (isLost(voice.watch)) return undefined
      try {
        const back = await workspace.finish(isLast)
        const summary =
          changed.state === 'files'
            ? summariseDifference(changed)
            : back && changed.state === 'unknown'
              ? summariseBrought(back)
              : undefined
        if (summary) await voice.recordEvent({ type: 'workspace.changed', data: summary })
        if (changed.state === 'unknown') await voice.note('changes_unknown', changed.why ?? '')
        if (back?.told !== undefined) await voice.note('workspace_kept', back.told)
        if (back && back.refused.length > 0)
          await voice.note('workspace_refused', `Not regular files, left behind: ${some(back.refused)}`)
        const left = back && leftBehind(back)
        if (left) await voice.note('workspace_conflict', left)
        return left
      } catch (error) {
        const left = `What the agent changed is still in ${workspace.source}: ${messageOf(error)}`
        await voice.note('workspace_error', left)
        return left
      }
    },
  }
}

interface Begun {
  readonly folder: StoreFolder
  readonly picture: Picture
  readonly place: PicturePlace
  readonly covers: readonly string[]
  /** At what is pictured. */
  readonly glance: Glance | undefined
}
interface NotBegun {
  readonly covers: readonly string[]
  readonly why: string
}

/** Never rejects: a run is worth more than the knowledge of what it did. */
async function pictureBefore(context: WatchContext): Promise<Begun | NotBegun> {
  const { run, home, walls, sandbox, path, voice } = context
  try {
    const folder = await openStoreFolder(home, run, { user: walls.user, isOpen: context.isOpen })
    const place = { sandbox, walls: { ...walls, home: hostPath(folder.path) }, path, without: home, signal: voice.watch.signal }
    const left = folder.left ?? (await emptyBefore(context))
    const covers = left?.runs ?? []
    // The workspace holds what the run before has done: only its beginning is ours too.
    const glance = left ? undefined : await glanceAt(walls.workspace.source, home)
    const picture = left?.picture ?? (await firstPicture(glance, folder, place, context))
    const isKnown = context.isNew && run.fence === 1 && picture === emptyPicture
    if (!isKnown) folder.keepBase({ runs: [...covers, run.id], picture })
    return { folder, picture, place, covers, glance }
  } catch (error) {
    if (!(error instanceof NoPicture)) voice.log.warn('a workspace could not be pictured', { error: messageOf(error) })
    const why =
      error instanceof NoPicture ? error.message : isPassing(error) ? 'the database was away' : 'git could not be started'
    return {
      covers: [],
      why: `What this run changed is not known: the workspace could not be pictured before it, because ${why}.`,
    }
  }
}

/** What need not be written down, because everybody knows it: how a workspace was that was made for its task. */
async function emptyBefore({ isNew, run, openBefore }: WatchContext): Promise<Base | undefined> {
  const runs = isNew && run.fence > 1 ? await openBefore() : undefined
  return runs && { runs, picture: emptyPicture }
}

/** Git is asked only where nothing else can tell. */
async function firstPicture(
  glance: Glance | undefined,
  folder: StoreFolder,
  place: PicturePlace,
  { shelf, walls }: WatchContext,
): Promise<Picture> {
  if (glance?.isEmpty) return emptyPicture
  folder.make()
  return (glance && shelf.take(walls.workspace.source, folder.path, glance.digest)) ?? (await takePicture(place, undefined))
}

/** `goesOn` says that the next run may find the workspace as it is now. */
async function compare(begun: Begun, { voice, redact, walls, shelf, home }: WatchContext, goesOn: boolean): Promise<RunChanged> {
  const { folder, picture, covers } = begun
  try {
    // A run that was stopped has changed things too, and to look takes a moment.
    const place = { ...begun.place, signal: new AbortController().signal }
    const workspace = walls.workspace.source
    const glance = await glanceAt(workspace, home)
    const isSame = glance !== undefined && glance.digest === begun.glance?.digest
    if (!isSame) folder.make()
    const after = isSame ? picture : await takePicture(place, picture, afterLimits)
    if (goesOn && glance && !glance.isEmpty && (isSame || (await glanceAt(workspace, home))?.digest === glance.digest))
      shelf.offer(folder.path, { workspace, picture: after, digest: glance.digest })
    const kept = after.tree === picture.tree ? nothingKept : await readKept(folder.path)
    const difference = differenceOf(picture, after, { ...kept, redact })
    return difference.fileCount === 0 ? { ...noChanges, state: 'nothing', covers } : { ...difference, state: 'files', covers }
  } catch (error) {
    if (!(error instanceof NoPicture)) voice.log.warn('a workspace could not be pictured', { error: messageOf(error) })
    const why = error instanceof NoPicture ? error.message : 'git could not be started'
    return {
      ...unknownChanges,
      covers,
      why: `What this run changed is not known: the workspace could not be pictured after it, because ${why}.`,
    }
  }
}

/** Nobody waits for it but the result. */
const afterLimits = { files: 50_000, bytes: 512_000_000, fileBytes: 8_000_000, ms: 30_000 }
const nothingKept = { list: undefined, patch: undefined }

function leftBehind({ conflicts, failed, keptAt }: BroughtBack): string | undefined {
  const sentences: string[] = []
  const kept = (count: number) => `${count === 1 ? 'is' : 'are'} kept in ${keptAt}`
  if (conflicts.length > 0)
    sentences.push(
      `${conflicts.length === 1 ? '1 file was' : `${conflicts.length} files were`} changed on both sides and ${kept(conflicts.length)}: ${some(conflicts)}`,
    )
  if (failed.length > 0)
    sentences.push(
      `${failed.length === 1 ? '1 file' : `${failed.length} files`} could not be written back (${failed[0]?.why}) and ${kept(failed.length)}: ${some(failed.map(({ path }) => path))}`,
    )
  return sentences.length > 0 ? sentences.join('; ') : undefined
}

const some = (paths: readonly string[]) => [...paths.slice(0, 20), ...(paths.length > 20 ? ['…'] : [])].join(', ')
