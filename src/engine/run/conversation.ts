import { join } from 'node:path'
import type { Verdict } from '../../agents/port.ts'
import { hostPath } from '../../domain/base/path.ts'
import { messageOf } from '../../domain/error.ts'
import { mountLines } from '../../domain/profile/mounts.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { rightsOf } from '../../domain/profile/resolve.ts'
import { writeHomeFile } from '../../sandbox/files/home-files.ts'
import type { Walls } from '../../sandbox/port.ts'
import { areChangesOpen, openRunsBefore } from '../../store/changes.ts'
import type { TakenRun } from '../../store/runs.ts'
import { failingAs } from '../base/failure.ts'
import { isLost, type RunContext, type TurnResult } from '../base/run-context.ts'
import { type Examined, endedWell, examine, repeats } from '../checks/examine.ts'
import { artifactFolder, keepArtifacts, openArtifacts } from '../files/artifacts.ts'
import { layAttachments } from '../files/lay-attachments.ts'
import { layPrompt } from '../files/long-prompt.ts'
import { withFiles } from '../files/told.ts'
import { fingerprintIn } from '../guardrails/fingerprint.ts'
import type { RunRecording } from '../recordings/record-run.ts'
import { readyMounts } from '../rights/mounts.ts'
import { wallsOf } from '../rights/walls.ts'
import { skillsOfRun } from '../skills/run-skills.ts'
import { watchChanges } from '../workspace/changes/watch-changes.ts'
import { sessionGitConfig } from '../workspace/git.ts'
import { type Guard, guardWorkspace } from '../workspace/guard.ts'
import { assertNoHome } from '../workspace/homes.ts'
import { type PreparedWorkspace, prepareWorkspace } from '../workspace/workspace.ts'
import { heldSandbox } from './held-sandbox.ts'
import { makeDirectories, refuseOpenWalls } from './prepare.ts'
import type { RunParts } from './run.ts'
import { haveTurn } from './turn.ts'

const whyCopied = (task: TakenRun['task']): string =>
  `Copying ${task.workspace}, ${
    task.workspace_how?.mode === 'copy'
      ? 'as was asked for'
      : "because Pawl is root, agents are not, and the agent's user may not write there"
  }; changes are brought back at the end.`

/** Prepares everything, has one turn with the agent inside its walls, and leaves nothing running but what may serve the session's next turn. */
export async function converse(given: TakenRun, parts: RunParts, voice: RunContext): Promise<Examined> {
  const { run, task } = given
  const adapter = parts.adapterNamed(task.agent_config.adapter, task.agent_config.options)
  const profile = rightsOf(task.agent_config)
  const { sandbox: launching, health } = await parts.wallsFor(profile)
  const sandbox = heldSandbox(launching, voice.watch)
  const { enforced } = health
  refuseOpenWalls(given, { adapter, profile, health })
  if (enforced) await failingAs('sandbox_error', () => parts.selfTests.assertHolds(profile))
  const user = enforced ? health.user : undefined
  const skills = await failingAs('bad_config', () =>
    skillsOfRun({ home: parts.home, user: task.user_name, profile, adapter, enforced, nowMs: parts.clock.now() }),
  )
  for (const note of skills.notes) void voice.note('skill_left_out', note)
  const home = join(parts.home, 'sessions', task.session_id)
  const records = join(parts.home, 'runs', run.id)
  const made = { ours: [records], agents: [home, ...(task.workspace_own ? [task.workspace] : [])] }
  await failingAs('workspace_error', () => makeDirectories(made, user))
  const prepared = await failingAs('workspace_error', () =>
    prepareWorkspace({
      path: task.workspace,
      own: task.workspace_own,
      allowHome: task.spec.allowHome,
      mode: task.workspace_how?.mode,
      bringBackBranch: task.workspace_how?.bringBack === 'branch',
      user,
      folder: join(parts.home, 'workspaces'),
      task: task.id,
      fence: run.fence,
      without: parts.home,
      paths: parts.codePaths,
      // Checks run in the same copy, and may need what the program does not.
      unread: task.spec.checks === undefined ? adapter.unread : undefined,
      signal: voice.watch.signal,
      confine: enforced ? sandbox.confine : undefined,
      isGitPrivate: enforced,
      onCopy: () => void voice.note('workspace_copy', whyCopied(task)),
      onProgress: (entries) => void voice.note('workspace_copy', `Copied ${entries} files and folders so far.`),
    }),
  )
  if (prepared.cost) void voice.note('workspace_cost', prepared.cost)
  const { replay } = task.spec
  // Few runs are recorded, and fewer replayed.
  const beginReplay = replay && (await import('../recordings/replay-run.ts')).beginReplay
  const replayed = replay && (await beginReplay?.(given, replay, parts, voice, { prepared, home, user, enforced, records }))
  const { taken, workspace } = replayed ?? { taken: given, workspace: prepared }
  let recording: RunRecording | undefined
  const orLeave = <T>(work: () => Promise<T>, guard?: Guard) =>
    work().catch(async (error: unknown) => {
      await recording?.end()
      await leaveUnused(workspace, guard, voice)
      throw error
    })
  if (task.spec.record)
    recording = await orLeave(async () => {
      const { beginRecording } = await import('../recordings/record-run.ts')
      return beginRecording(taken, parts, voice, { workspace, adapter, home })
    })
  await orLeave(() => failingAs('workspace_error', () => assertNoHomeToRead(task)))
  const ready = await orLeave(() =>
    readyMounts(profile, { ...parts, ours: [parts.home], workspace: workspace.path, user, enforced }),
  )
  for (const { why } of ready.leftOut) void voice.note('mount_missing', `${why}. The run goes on without it.`)

  const guard = await orLeave(() =>
    failingAs('workspace_error', () =>
      guardWorkspace({
        run: run.id,
        session: task.session_id,
        home: parts.home,
        workspace,
        paths: parts.codePaths,
        own: adapter.codePaths ?? [],
        given: ready.sources,
        profile,
        enforced,
        user,
        records,
      }),
    ),
  )
  const message = await orLeave(async () => {
    const gitConfig = await sessionGitConfig(parts.userHome, workspace.path)
    await writeHomeFile({ home, path: '.gitconfig' }, gitConfig, { user })
    return layPrompt(task, { adapter, profile, home, user })
  }, guard)
  const attached = await orLeave(() => layAttachments(taken, parts, { enforced }), guard)
  const artifacts = await orLeave(() => openArtifacts(taken, { home, user }), guard)
  for (const note of [...ready.notes, ...guard.notes]) void voice.note('workspace_guard', note)
  const walls = wallsOf(profile, {
    unit: sandbox.killUnit(run.id, run.fence),
    workspace: { source: workspace.source, path: workspace.path, mark: workspace.mark },
    home: hostPath(home),
    hidden: [hostPath(parts.home)],
    covered: [...ready.covered, ...guard.covered],
    user,
    enforced,
    mounts: [
      ...ready.mounts,
      ...guard.mounts,
      ...skills.mounts,
      ...message.mounts,
      ...attached.mounts,
      ...toolMounts(profile, artifacts),
    ],
    masks: guard.masks,
  })
  const changes = watchChanges(workspace, {
    run: { id: run.id, task: task.id, fence: run.fence },
    home: parts.home,
    sandbox,
    walls,
    path: parts.path,
    voice,
    redact: (text) => parts.redactor.text(text),
    isOpen: (runs) => areChangesOpen(parts.db, runs),
    openBefore: () => openRunsBefore(parts.db, task.id, run.fence),
    isNew: task.workspace === join(parts.home, 'workspaces', task.id),
    shelf: parts.pictures,
  })
  let result: Examined | undefined
  let left: string | undefined
  /** Under way as soon as the agent rests: the workspace and the conversation are put in order side by side. */
  let ordering: Promise<string | undefined> | undefined
  let keeps = false
  let areParked = false
  const settle = async () => {
    const settled = await guard.settle({ keeps })
    areParked = settled.areParked
    return settled
  }
  const putInOrder = () => (ordering ??= settleGuard(settle, voice))
  try {
    result = await haveTurn(taken, parts, {
      voice,
      adapter,
      profile,
      sandbox,
      walls,
      records,
      workspace,
      guard,
      places: mountLines(ready.there, { enforced }),
      message: adapter.isElsewhere
        ? message
        : withFiles(message, attached, parts.files.limits.tellArtifacts ? artifactFolder(home) : undefined),
      attached,
      skills,
      enforced,
      recording,
      replayed,
      isPictured: changes.isPictured,
      // What is recorded or compared is the workspace as the agent left it.
      async onRest(kept) {
        keeps = kept
        if (recording || replayed) return true
        await putInOrder().catch(() => undefined)
        return areParked
      },
    })
  } finally {
    await recording?.end()
    await replayed?.end()
    await voice.watch.untilConfirmed()
    // Whoever has the task now takes the copy over and brings it back.
    if (isLost(voice.watch)) await (ordering ?? release(guard, voice))
    else {
      const planted = await putInOrder()
      await keepArtifacts(taken, parts, voice, { home })
      if (result) {
        const { unit } = walls
        const site = { profile, sandbox, enforced, user, unit, workspace, mounts: ready, home, records }
        result = await examine(taken, parts, voice, site, result)
        if (!voice.watch.reason)
          result = { ...result, fingerprint: await fingerprintIn(workspace.source, result.verdict, parts.home) }
      }
      const { settled } = result ?? {}
      const plantedByChecks = settled && (await settleGuard(async () => settled, voice))
      // Checks may take long: somebody else may have the task by now, and the copy with it.
      await voice.watch.untilConfirmed()
      const notBack = isLost(voice.watch) ? undefined : await changes.finish(isLast(taken, result, voice))
      left = sentences(planted, plantedByChecks, notBack)
    }
    // A program that waits for the next turn has them mounted.
    if (!result || result.exit) await dropGits(guard, voice)
  }
  return left === undefined ? result : { ...result, verdict: lowered(result.verdict, left) }
}

/** As when the task was made: a folder may have become somebody's home since. */
async function assertNoHomeToRead({ spec: { contextDirs = [], allowHome } }: TakenRun['task']): Promise<void> {
  for (const folder of contextDirs) assertNoHome(folder, { allowHome, called: 'context folder' })
}

/** The agent's program has its home; our own tools, which are used in its place, do not. */
const toolMounts = ({ tools }: Profile, mounts: NonNullable<Walls['mounts']>) => (tools.native ? [] : mounts)

/** Nothing was started: the place is left as it was found, and why it was not used stays the answer. */
async function leaveUnused(workspace: PreparedWorkspace, guard: Guard | undefined, voice: RunContext): Promise<void> {
  if (guard) {
    await release(guard, voice)
    await dropGits(guard, voice)
  }
  await voice.watch.untilConfirmed()
  // Whoever has the task now takes a copy over.
  if (isLost(voice.watch)) return
  await workspace
    .finish(false)
    .catch((error: unknown) =>
      voice.note('workspace_error', `What was prepared is still in ${workspace.source}: ${messageOf(error)}`),
    )
}

async function release(guard: Guard, voice: RunContext): Promise<void> {
  await guard.release().catch((error: unknown) => voice.note('workspace_guard', notInOrder(error)))
}
async function dropGits(guard: Guard, voice: RunContext): Promise<void> {
  await guard
    .drop()
    .catch((error: unknown) => voice.log.warn('a git directory of an agent was not removed', { error: messageOf(error) }))
}
const notInOrder = (error: unknown) =>
  `The workspace could not be put in order; that is done at the next start: ${messageOf(error)}`

/** Nobody reads more, and an agent may plant thousands; all are in quarantine's own list. */
const mostNamed = 200

/** Before anything of the workspace is read or brought back: what was planted in it is moved out. */
async function settleGuard(settle: Guard['settle'], voice: RunContext): Promise<string | undefined> {
  try {
    const { quarantined, keptAt, flagged, notes, sentence } = await settle()
    for (const note of notes) await voice.note('workspace_guard', note)
    if (quarantined.length > 0 && keptAt !== undefined)
      await voice.recordEvent({ type: 'workspace.quarantined', data: { paths: quarantined.slice(0, mostNamed), keptAt } })
    if (flagged.length > 0) await voice.recordEvent({ type: 'workspace.flagged', data: { paths: flagged.slice(0, mostNamed) } })
    return sentence
  } catch (error) {
    const sentence = `The workspace could not be looked through for what the agent may have planted: ${messageOf(error)}`
    await voice.note('workspace_guard', sentence)
    return sentence
  }
}

const sentences = (...parts: (string | undefined)[]) => parts.filter((part) => part !== undefined).join(' ') || undefined

/** A run that ends well is the last of its task; after any other the work may go on in the same copy. */
const isLast = (taken: TakenRun, result: TurnResult | undefined, { watch }: RunContext) =>
  !watch.reason && result !== undefined && endedWell(result.verdict) && !repeats(taken, result)

/** Work that is not where it belongs is no plain success. */
function lowered(verdict: Verdict, left: string): Verdict {
  if (!endedWell(verdict)) return verdict
  const outcome = verdict.outcome === 'empty' ? 'empty' : 'partial'
  return { ...verdict, outcome, message: verdict.message ? `${verdict.message} ${left}` : left }
}
