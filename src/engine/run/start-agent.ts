import { createHash, randomUUID } from 'node:crypto'
import { posix } from 'node:path'
import type { LaunchSpec, TurnImage } from '../../agents/port.ts'
import { messageOf } from '../../domain/error.ts'
import type { Totals } from '../../domain/money/totals.ts'
import { profileDigest } from '../../domain/profile/digest.ts'
import { type Category, categories, type SessionCare } from '../../domain/run/outcome.ts'
import { writeHomeFile } from '../../sandbox/files/home-files.ts'
import type { KillUnit } from '../../sandbox/process/child.ts'
import { totalsOfTask } from '../../store/ledger.ts'
import { recordStart, runsOfTask, type TakenRun, toolsRan } from '../../store/runs.ts'
import { knownFiles } from '../../store/session-archive.ts'
import { subtasksOf } from '../../store/subtasks.ts'
import type { RunRow } from '../../store/tables.ts'
import { type AccessPlace, doorAccess, findAccess } from '../auth/agent-access.ts'
import { tellsOfFiles } from '../files/lay-attachments.ts'
import { type GateOptions, type Passed, passGate } from '../session/gate.ts'
import { conversationMark } from '../session/home.ts'
import { isPlanned, planningPreamble } from '../tasks/subtasks/planning.ts'
import { toldTogether } from '../tasks/subtasks/results.ts'
import { readRepositoryFiles } from '../workspace/repository-files.ts'
import { assertWorthAnotherTry } from './another-try.ts'
import { cutCalls } from './cut-calls.ts'
import { launchAgent } from './launch-agent.ts'
import type { LiveAgent } from './live-agent.ts'
import { tellOfNewer } from './newer-version.ts'
import { type Wanted, wantedOf } from './prepare.ts'
import { composePrompt } from './prompt.ts'
import { clearQuestionFile } from './question-file.ts'
import type { RunParts } from './run.ts'
import type { Place } from './turn.ts'
import type { Likeness } from './warm.ts'

/** A program that is ready for this run's turn: the session's own that was waiting, or a new one. */
export interface FoundAgent {
  readonly agent: LiveAgent
  readonly prompt: string
  readonly images: readonly TurnImage[]
  /** What the next run must want to be served by it; asked again after the turn, which may have changed the login and the conversation. */
  likeness(vendorId: string | undefined): Promise<Likeness>
}

/** Undefined if the run was stopped, or was no longer ours, before there was a program. */
export async function findAgent(taken: TakenRun, parts: RunParts, place: Place): Promise<FoundAgent | undefined> {
  const { run, task, session } = taken
  const { adapter, walls, workspace, voice } = place
  const { watch } = voice
  const program = await parts.probe(task.agent_config, workspace.path)
  await assertWorthAnotherTry(parts.db, run, program)
  await tellOfNewer(parts.programOf(task.agent_config), program, { home: parts.home, log: voice.log, note: voice.note })
  const asked = await wantedOf(taken, adapter, {
    workspace: workspace.path,
    home: walls.home,
    pawlHome: parts.home,
    profile: place.profile,
    places: place.places,
    walled: place.enforced,
    program,
    skills: place.skills.given,
    folders: [place.message.folder, place.attached.folder],
    leftUsd: place.leftUsd,
    models: place.models,
  })
  const told = place.replayed?.told
  const wanted: Wanted = {
    ...asked,
    instructions: await instructionsOf(asked.options, place),
    ...(told && { systemPrompt: told.systemPrompt }),
    replayed: place.replayed?.isWhole,
  }
  const digest = await profileDigest(place.profile)
  const entrance = () => {
    const where: AccessPlace = {
      agent: task.agent_config,
      login: adapter.login,
      environment: parts.environment,
      userHome: parts.userHome,
      sessionHome: walls.home,
      user: walls.user,
      leftovers: parts.leftovers,
      clock: parts.clock,
      hide: voice.hide,
    }
    return place.models ? doorAccess(where, place.models.keyVariables, place.models.keyName) : findAccess(where)
  }
  const likeness = async (vendorId: string | undefined): Promise<Likeness> => {
    const [{ likeness: access }, secrets, conversation] = await Promise.all([
      entrance(),
      parts.secretsFor(place.profile.secrets, { agent: task.agent, user: task.user_name }),
      vendorId === undefined ? '' : conversationState(vendorId),
    ])
    return { ...likenessOf(wanted, taken, parts, place, digest), access, secrets: digestOf(secrets), conversation }
  }

  const earlier = run.fence > 1 ? await earlierRuns(taken, parts) : []
  const care = careAfter(earlier)
  const soFar = earlier.length > 0 ? await totalsOfTask(parts.db, task.id) : undefined
  const fresh = task.continuation?.kind === 'retry' && task.continuation.fresh
  const warm = await waitingAgent()
  try {
    const passed: Passed = warm ? { how: 'resumed', resume: session.vendor_id! } : await passGate(gateOptions())
    const composed = composePrompt({
      prompt: place.message.prompt,
      continuation: task.continuation,
      // Whoever is told the story so far knows it like one who remembers it.
      resumed: passed.resume !== undefined || passed.preface !== undefined,
      preface: passed.preface,
      earlier: earlier.at(-1),
      toolsRan: earlier.length > 0 && (await toolsRan(parts.db, task.id)),
      outputSchema: adapter.can.structuredOutput ? undefined : (task.output_schema ?? undefined),
      planning: isPlanned(task) ? planningPreamble(task, adapter) : undefined,
      cutCalls: adapter.sessions?.dropsCutCalls && !warm && isAsItWas(passed) ? await cutCalls(parts.db, session.id) : [],
      subtasks: task.has_subtasks ? toldTogether(await subtasksOf(parts.db, task.id)) : undefined,
    })
    const prompt = told?.prompt ?? composed
    // They go with the words that name them: whoever remembers those has seen them.
    const { told: named, images: given } = place.attached
    const images =
      adapter.can.images && named !== undefined && (told ? tellsOfFiles(prompt) : prompt.includes(named)) ? given : []
    // A run that was cut off before this has changed nothing.
    await place.isPictured
    // From here on the session home is written to; a run that has lost its lease must not.
    const unit = warm?.unit ?? walls.unit
    const isOurs =
      passed.how !== 'lost' && (await begin(taken, parts, place, { unit, digest, resumed: passed.resume !== undefined, soFar }))
    if (!isOurs) watch.stop({ kind: 'lease_lost' })
    if (watch.reason) return await leave()
    await clearQuestionFile(walls.home)
    if (adapter.can.warm) await writeRunFile()
    if (warm) voice.hide(warm.secrets())
    await place.recording?.start({ prompt, systemPrompt: wanted.systemPrompt, resume: passed.resume })
    const newSession = adapter.can.preassignSession && passed.resume === undefined ? randomUUID() : undefined
    const agent =
      warm ??
      (await launchAgent(
        { ...wanted, prompt, images: images.map(({ path }) => path), resume: passed.resume, newSession },
        await entrance(),
        { taken, parts, place },
      ))
    return agent && { agent, prompt, images, likeness }
  } catch (error) {
    await leave()
    throw error
  }

  /** A program that was taken is nobody's any more. */
  async function leave(): Promise<undefined> {
    await warm?.end(0).catch((error: unknown) => voice.note('not_ended_cleanly', messageOf(error)))
  }

  /** The file as it lies here, and how much of it is archived: a turn that was had elsewhere shows in the one or the other. */
  async function conversationState(vendorId: string): Promise<string> {
    if (!adapter.sessions) return ''
    const [mark, archived] = await Promise.all([
      conversationMark(walls.home, adapter.sessions, vendorId),
      knownFiles(parts.db, session.id, vendorId),
    ])
    return JSON.stringify([mark, archived.map(({ path, size }) => [path, size])])
  }

  async function waitingAgent(): Promise<LiveAgent | undefined> {
    if (!adapter.can.warm) return undefined
    if (!fresh && care === 'keep' && session.vendor_id !== null && session.adopted_from === null)
      return parts.warm.take(session.id, await likeness(session.vendor_id))
    await parts.warm.drop(session.id)
    return undefined
  }

  function gateOptions(): GateOptions {
    const { db, journal, clock } = parts
    const { model, version } = wanted
    const home = { home: walls.home, user: walls.user, workspace: workspace.path }
    const mustRetell = adapter.goesOn?.(wanted) === false
    return { db, journal, clock, log: voice.log, adapter, session, task, run, ...home, model, version, care, fresh, mustRetell }
  }

  /** A program that serves many runs cannot be told by its environment which one it is at now. */
  function writeRunFile(): Promise<void> {
    const text = JSON.stringify({ task: task.id, run: run.id, attempt: run.attempt })
    return writeHomeFile({ home: walls.home, path: '.pawl-run.json' }, text, { user: walls.user })
  }
}

/** Read anew for each run, as the workspace is now; the run notes what was used of the repository and what was not. */
async function instructionsOf(
  options: unknown,
  { adapter, profile, workspace, guard, voice }: Place,
): Promise<LaunchSpec['instructions']> {
  const files = adapter.instructionFiles?.(options)
  if (files) {
    const isTrusted = guard.isTrusted
    const { texts, note } = await readRepositoryFiles(workspace.source, {
      files,
      features: adapter.repositoryFeatures,
      profile,
      isTrusted,
    })
    if (note !== undefined) void voice.note('repository', note)
    if (profile.instructions) return texts
  }
  return profile.instructions ? [] : false
}

/** The program's own record, which one that was made anew is not. */
const isAsItWas = ({ how }: Passed) => how === 'resumed' || how === 'restored'

/** The kill unit is on disk before anything is started, so that whoever comes after us can end it. False if the run is no longer ours. */
function begin(
  taken: TakenRun,
  parts: RunParts,
  { sandbox, enforced, profile }: Place,
  { unit, digest, resumed, soFar }: { unit: KillUnit; digest: string; resumed: boolean; soFar: Totals | undefined },
): Promise<boolean> {
  const { run, task } = taken
  const data = {
    attempt: run.attempt,
    fence: run.fence,
    worker: run.worker_id ?? '',
    walls: sandbox.name,
    enforced,
    resumed,
    profile: profile.name,
    ...(soFar ? { soFar } : {}),
  }
  const started = { task: task.id, run: run.id, fence: run.fence, event: { type: 'run.started', data } } as const
  const record = { unit, walls: sandbox.name, enforced, resumed, profile, digest, at: new Date(parts.clock.now()) }
  return parts.journal.transactAtOnce('killunit.record', started, (one) => recordStart(one, run, record))
}

/** Everything that a program was started with, and that the next run must want alike. */
function likenessOf(
  wanted: Wanted,
  { task }: TakenRun,
  parts: RunParts,
  { workspace, sandbox, enforced, guard, skills, walls }: Place,
  profile: string,
): Likeness {
  const agent = task.agent_config
  return {
    adapter: agent.adapter,
    profile: `${profile} ${sandbox.name} ${enforced} ${guard.likeness} ${digestOf(walls.covered ?? [])} ${skills.likeness}`,
    environment: digestOf({
      path: parts.path,
      passed: parts.environment(agent.env.pass),
      set: agent.env.set,
      user: parts.userEnvironment(task.user_name),
      baseUrl: agent.baseUrl,
    }),
    workspace: posix.normalize(`${workspace.path}\0${workspace.source}`),
    model: `${wanted.model ?? ''} ${wanted.servedModels?.join(' ') ?? ''}`,
    systemPrompt: digestOf([wanted.systemPrompt ?? null, wanted.instructions]),
    options: digestOf({
      options: wanted.options,
      args: wanted.extraArgs,
      schema: wanted.outputSchema,
      turns: wanted.maxTurns,
      usd: wanted.maxUsd,
      allowed: wanted.allowedTools,
      disallowed: wanted.disallowedTools,
      folders: wanted.contextDirs,
      servers: wanted.servers,
    }),
    program: `${wanted.program} ${wanted.version}`,
  }
}

const digestOf = (value: unknown) =>
  createHash('sha256')
    .update(JSON.stringify(value) ?? '')
    .digest('hex')

const earlierRuns = async ({ run, task }: TakenRun, parts: RunParts) =>
  (await runsOfTask(parts.db, task.id)).filter((other) => other.id !== run.id && other.started_at !== null)

/**
 * How far the conversation is trusted after the runs before this one. A crash may happen, so the first time it is gone on with; after a second one in a row its files
 * may be the cause, after a third what is archived of them too.
 */
export function careAfter(earlier: readonly Pick<RunRow, 'outcome' | 'category'>[]): SessionCare {
  const other = earlier.toReversed().findIndex((run) => run.outcome !== 'failed' || run.category !== 'crashed')
  const crashes = other === -1 ? earlier.length : other
  if (crashes > 0) return crashes >= 3 ? 'rebuild' : crashes === 2 ? 'restore' : 'keep'
  const last = earlier.at(-1)?.category as Category | null | undefined
  return last ? categories[last].session : 'keep'
}
