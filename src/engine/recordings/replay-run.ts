import { join } from 'node:path'
import { sandboxPath } from '../../domain/base/path.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { ReplayOf } from '../../domain/task/spec.ts'
import type { Replay } from '../../gateway/recordings/recording.ts'
import { createReplay } from '../../gateway/recordings/replay.ts'
import { sameInCopy } from '../../sandbox/files/entry.ts'
import { emptyTree } from '../../sandbox/files/remove-tree.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { writeFileDurably } from '../../store/durable-file.ts'
import { rememberVendorSession, type TakenRun } from '../../store/runs.ts'
import { RunFailure } from '../base/failure.ts'
import type { RunContext } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import { readTree, type Tree } from '../workspace/tree.ts'
import type { PreparedWorkspace } from '../workspace/workspace.ts'
import { loadRecording, recordingFolder } from './folder.ts'
import { layTree } from './lay-tree.ts'
import type { Told } from './record-run.ts'
import { type ReplayFacts, replayFile } from './report.ts'
import { laySession } from './session-files.ts'

/** A run that does once more what another one did: the same place, the same words, the same answers. */
export interface RunReplayed {
  readonly taken: TakenRun
  readonly workspace: PreparedWorkspace
  /** What the agent is told; undefined if it is to be told something else. */
  readonly told: Omit<Told, 'resume'> | undefined
  readonly replay: Replay
  /** No call of it goes to a provider. */
  readonly isWhole: boolean
  /** Writes down how it went. */
  end(): Promise<void>
}

export async function beginReplay(
  given: TakenRun,
  of: ReplayOf,
  parts: Pick<RunServices, 'db' | 'clock' | 'home' | 'redactor'>,
  voice: RunContext,
  place: { prepared: PreparedWorkspace; home: string; user: AgentUser | undefined; enforced: boolean; records: string },
): Promise<RunReplayed> {
  const { prepared, home, user, enforced } = place
  const recording = await loadRecording(parts.home, of.run).catch((error: unknown) => {
    throw error instanceof PawlError ? new RunFailure('bad_config', error.message) : error
  })
  const { start, workspace: tree } = recording
  if (!start || !tree || tree.leftOut !== undefined)
    throw new RunFailure('bad_config', `Run ${of.run} cannot be replayed: ${tree?.leftOut ?? 'its agent was never started'}.`)
  const { files } = recordingFolder(parts.home, of.run)
  // An earlier run of the task may have worked in it.
  await emptyTree(prepared.source)
  await layTree(tree.entries, { files, to: prepared.source, user }).catch((error: unknown) => {
    throw new RunFailure('workspace_error', `The workspace of run ${of.run} could not be laid out again: ${messageOf(error)}.`)
  })
  const taken = await withConversation()
  // Inside walls the copy is seen where the original was, so that all paths are the same.
  const worked = start.mode === 'copy' ? await asCopy(prepared) : prepared
  const workspace = enforced ? { ...worked, path: sandboxPath(start.workspace) } : worked
  const replay = createReplay({
    recording,
    until: of.until,
    anyModel: of.hasOtherModel,
    redactor: parts.redactor,
    places: [
      { path: start.workspace, as: 'workspace' },
      { path: workspace.path, as: 'workspace' },
      { path: start.home, as: 'home' },
      { path: home, as: 'home' },
    ],
    onDivergence(_, sentence) {
      void voice.note('replay_diverged', sentence)
      voice.watch.stop({ kind: 'tripped', message: sentence })
    },
  })
  return {
    taken,
    workspace,
    told: of.hasOtherPrompt ? undefined : { prompt: start.prompt, systemPrompt: start.systemPrompt },
    replay,
    isWhole: of.until === undefined,
    async end() {
      const facts: ReplayFacts = {
        of: of.run,
        until: of.until ?? null,
        recorded: recording.calls.length,
        ...replay.counts,
        missing: replay.missing(),
        divergence: replay.divergence ?? null,
        places: { workspace: workspace.path, home },
      }
      await writeFileDurably(join(place.records, replayFile), JSON.stringify(facts)).catch((error: unknown) =>
        voice.log.warn('how a replay went is not written down', { error: messageOf(error) }),
      )
    },
  }

  /** The session is the replay's own and knows of none; it goes on with a copy of the one that was gone on with. */
  async function withConversation(): Promise<TakenRun> {
    const session = start?.session
    if (!session) return given
    await laySession(session, { home, files, user })
    await rememberVendorSession(parts.db, given.session.id, session.vendorId, new Date(parts.clock.now()))
    return { ...given, session: { ...given.session, vendor_id: session.vendorId } }
  }
}

/** Tells what was changed in it as a copy of a workspace does; there is nowhere to bring it back to. */
async function asCopy(prepared: PreparedWorkspace): Promise<PreparedWorkspace> {
  const base = await readTree(prepared.source)
  return {
    ...prepared,
    mode: 'copy',
    async finish() {
      const now = await readTree(prepared.source)
      const isFile = (path: string, tree: Tree) => tree.get(path)?.kind === 'file' || tree.get(path)?.kind === 'link'
      const files = [...now.keys()].filter((path) => isFile(path, now))
      const added = files.filter((path) => !isFile(path, base))
      const changed = files.filter((path) => isFile(path, base) && !sameInCopy(base.get(path)!, now.get(path)!))
      const removed = [...base.keys()].filter((path) => isFile(path, base) && !now.has(path))
      return { added, changed, removed, conflicts: [], refused: [], failed: [], keptAt: undefined }
    },
  }
}
