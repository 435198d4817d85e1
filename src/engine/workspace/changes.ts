import { messageOf } from '../../domain/error.ts'
import type { Sandbox, Walls } from '../../sandbox.ts'
import type { Voice } from '../run.ts'
import { gitInside } from './git.ts'
import { repositoryState, summarise, summariseChanges } from './repository.ts'
import type { BroughtBack, PreparedWorkspace } from './workspace.ts'

/** Tells what a run changed in its workspace, and brings it back where the run worked on a copy. */
export interface ChangeReport {
  /** Answers a sentence if some of the agent's work is not in the workspace. `isLast` says that no further run goes on with it. */
  finish(isLast: boolean): Promise<string | undefined>
}

type QuietWalls = Omit<Walls, 'door'>

/**
 * A copy knows by itself what was changed in it. In place we look at the repository now, while the agent starts, and at the end; git runs inside the same
 * walls, because the tree may be hostile. In place and without a repository nothing is told.
 */
export function watchChanges(
  workspace: PreparedWorkspace,
  context: { sandbox: Sandbox; walls: QuietWalls; path: string; voice: Voice },
): ChangeReport {
  const { sandbox, walls, path, voice } = context
  const look = () => repositoryState(workspace.source, (args) => gitInside(sandbox, walls, path, args)).catch(() => undefined)
  const before = workspace.mode === 'copy' ? undefined : look()
  return {
    async finish(isLast) {
      try {
        const back = await workspace.finish(isLast)
        const first = await before
        const changed = first ? summarise(first, await look()) : back && summariseChanges(back)
        if (changed) await voice.recordEvent({ type: 'workspace.changed', data: changed })
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
