import type { Adapter, Verdict } from '../../agents/port.ts'
import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { sameInside } from '../../domain/base/path.ts'
import { messageOf } from '../../domain/error.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import { showPaths } from '../../domain/profile/shown-paths.ts'
import { networkAccess } from '../../sandbox/egress/access.ts'
import type { Sandbox, Walls } from '../../sandbox/port.ts'
import type { Exit } from '../../sandbox/process/child.ts'
import { questionsOfTask } from '../../store/questions.ts'
import { recordHeldLimits, type TakenRun } from '../../store/runs.ts'
import type { QuestionRow } from '../../store/tables.ts'
import { whenDatabaseIsBack } from '../base/await-database.ts'
import { failingAs, RunFailure } from '../base/failure.ts'
import { isLost, type RunContext, spanned, type TurnResult } from '../base/run-context.ts'
import type { StopReason } from '../base/watch.ts'
import type { DoorVerbs } from '../endpoint/endpoint.ts'
import { toolHome } from '../endpoint/run-tools.ts'
import type { LaidAttachments } from '../files/lay-attachments.ts'
import type { LaidPrompt } from '../files/long-prompt.ts'
import { superviseRun } from '../guardrails/supervise.ts'
import type { Growth } from '../journal/live-text.ts'
import { withFacts } from '../models/call-facts.ts'
import { modelsFor, type RunModels } from '../models/run-models.ts'
import { createMeter } from '../money/meter.ts'
import type { RunRecording } from '../recordings/record-run.ts'
import type { RunReplayed } from '../recordings/replay-run.ts'
import { grantsOf } from '../rights/grants.ts'
import { createPermissions, type PermissionParts, type Permissions } from '../rights/permissions.ts'
import { megabyte } from '../rights/walls.ts'
import { archive, learnSession, storeSession } from '../session/keep.ts'
import type { RunSkills } from '../skills/run-skills.ts'
import { watchDisk } from '../workspace/disk-watch.ts'
import type { Guard } from '../workspace/guard.ts'
import type { PreparedWorkspace } from '../workspace/workspace.ts'
import { askIdOf } from './ask-id.ts'
import { goOnAsker } from './ask-to-go-on.ts'
import { createShare } from './fair-share.ts'
import type { LiveAgent } from './live-agent.ts'
import { adoptQuestionFile, takeQuestionFile } from './question-file.ts'
import type { RunParts } from './run.ts'
import { runVerbs } from './run-operations.ts'
import { endTools, toolsOfRun } from './run-tools.ts'
import { type FoundAgent, findAgent } from './start-agent.ts'
import { checkAnswer } from './structured-output.ts'

/** What a turn needs to know about where it happens. */
export interface Place {
  readonly voice: RunContext
  readonly adapter: Adapter
  readonly profile: Profile
  readonly sandbox: Sandbox
  readonly walls: Omit<Walls, 'door'>
  readonly enforced: boolean
  readonly workspace: PreparedWorkspace
  readonly guard: Guard
  /** What there is beside the workspace, a line each, for the agent. */
  readonly places: readonly string[]
  /** What the task asks for, or where that lies. */
  readonly message: LaidPrompt
  /** The files that its tasks were given. */
  readonly attached: LaidAttachments
  readonly skills: RunSkills
  readonly records: string
  /** What is left of the budget when the run begins; undefined if there is none. */
  readonly leftUsd?: number | undefined
  /** Undefined for a program that talks to its model past the gateway. */
  readonly models?: RunModels | undefined
  /** Keeps what the run asks of models. */
  readonly recording?: RunRecording | undefined
  /** The run repeats another one. */
  readonly replayed?: RunReplayed | undefined
  /** Nothing may be started, or be told to work, before: then nobody could tell what it changed. */
  readonly isPictured?: Promise<void> | undefined
  /**
   * Called when the agent is dead, or frozen and to be kept, while its conversation is still to be archived. Not if the run is lost. Resolves when the workspace is in order: false
   * if the program cannot be kept, because what was covered for it is not.
   */
  readonly onRest: (keeps: boolean) => Promise<boolean>
}

/** One turn with the agent of this run, from its start to what is left of it. */
export async function haveTurn(taken: TakenRun, parts: RunParts, place: Place): Promise<TurnResult> {
  const { task } = taken
  const { voice, profile } = place
  const { watch } = voice
  // Asked before the start: what comes after it must not depend on the database. A first run has no answers.
  const asked = taken.run.fence > 1 ? await questionsOfTask(parts.db, task.id) : []
  if (await adoptQuestionFile(taken, parts, place)) return { verdict: { outcome: 'blocked', text: '' } }
  const meter = createMeter({ ...parts, taken, log: voice.log, onOver: (reason) => watch.stop(reason) })
  const spent = await meter.begin()
  if (spent) {
    watch.stop(spent)
    return { verdict: { outcome: 'failed', text: '' } }
  }
  let models: RunModels | undefined
  const found = await findServed().catch(async (error: unknown) => {
    meter.close()
    await models?.close()
    throw error
  })
  if (!found) {
    meter.close()
    await models?.close()
    return { verdict: { outcome: 'failed', text: '' } }
  }
  const { agent } = found
  models?.expect()
  let stays = false
  let stopWatchingDisk: (() => void) | undefined
  let growth: Growth | undefined
  try {
    let vendorId: string | undefined
    let usedTools = false
    let learning: Promise<void> = Promise.resolve()
    const { model } = task.agent_config
    const { clock, guardrails } = parts
    const throughGateway = models !== undefined
    const supervision = superviseRun({ voice, meter, clock, guardrails, model, throughGateway })
    const share = createShare()
    const { verbs, permissions } = await rightsInUse(taken, parts, { ...place, models }, asked)
    watch.whenOverlong(goOnAsker(taken, parts, voice))
    if (agent.held) void keepHeld(taken, parts, agent.held, voice.log)
    stopWatchingDisk = watchDisk({
      folders: [place.workspace.source, place.walls.home, toolHome(place), ...place.guard.folders],
      mostBytes: profile.limits.diskMb * megabyte,
      clock: parts.clock,
      onLimit: (message) => watch.stop({ kind: 'limit', category: 'disk_limit', message }),
    })
    growth = parts.growths?.begin(task.id, taken.run.id, showPaths(profile.mounts))
    const turnedAtMs = parts.clock.now()
    const served = await agent.serve({
      watch,
      graceMs: task.agent_config.graceMs,
      records: {
        directory: place.records,
        redactor: parts.redactor,
        maxBytes: profile.limits.outputMb * megabyte,
        onLimit: () => watch.stop(overOutput(profile.limits.outputMb)),
        onLost: (error) => void voice.note('raw_log_lost', error.message),
      },
      door: verbs,
      turn: {
        prompt: found.prompt,
        images: found.images,
        signal: watch.signal,
        emit(event) {
          if (event.type === 'agent.session') {
            vendorId = event.data.vendorId
            learning = learning.then(() => learnSession(taken, parts, event.data.vendorId, voice.log))
          }
          if (event.type === 'agent.tool_called') usedTools = true
          if (endsSpeech.has(event.type)) growth?.whole()
          return supervision.emit(event) ?? share()
        },
        grow(kind, piece, isLine = false) {
          if (!isLine) watch.sign('news')
          growth?.add(kind, piece)
        },
        sign: (sign) => watch.sign(sign),
        ask: verbs.consult,
        permit: permissions.permit,
        askId: askIdOf(task),
        async stored() {
          await learning
          await whenDatabaseIsBack(parts, voice, () => storeSession(taken, parts, vendorId))
        },
        goesOnLater: () => watch.reason?.kind === 'interrupted' || isLost(watch),
        trace: parts.contexts?.ofTurn(spanned(taken))?.traceparent,
      },
    })
    parts.telemetry?.turn({ run: taken.run.id, startedAtMs: turnedAtMs, endedAtMs: parts.clock.now() })
    stopWatchingDisk()
    growth?.end()
    await fp('exit.observe')
    await learning
    await models?.close()
    const said = withFacts(await supervision.complete(served), models?.refusal)
    if (said.category === 'budget_exceeded') watch.stop(selfStopped(said, task.id))
    const isAsking =
      !isLost(watch) && (await whenDatabaseIsBack(parts, voice, () => takeQuestionFile(place.walls.home, verbs, voice)))
    const verdict: Verdict = isAsking ? asking(said) : await checkAnswer(task.output_schema, said)
    vendorId = verdict.vendorSession ?? vendorId ?? taken.session.vendor_id ?? undefined
    // Frozen before anything is looked at: what it could do later would be seen by nobody.
    stays = verdict.mayGoOn === true && !watch.reason && mayStay(taken, place) && agent.isAlone() && (await agent.freeze())
    const exit = stays ? undefined : await leave(agent)
    const ordered = isLost(watch) ? false : place.onRest(stays)
    // What a crash left behind may be what it crashed of: the archive keeps the last state that was good.
    if (!isLost(watch) && vendorId !== undefined && verdict.category !== 'crashed' && verdict.category !== 'session_missing')
      await archive(taken, parts, place, vendorId)
    // The archive took its time: the run may have been stopped, or the session be somebody else's by now.
    if (stays && !watch.reason) stays = (await ordered) && (await keep(agent, found, vendorId))
    const didNothing = verdict.outcome === 'empty' && !usedTools && place.adapter.ownTools !== undefined
    return { verdict, exit, didNothing }
  } catch (error) {
    stays = false
    throw error
  } finally {
    meter.close()
    stopWatchingDisk?.()
    growth?.end()
    if (!stays || watch.reason) {
      await leave(agent)
      await place.guard.dropParked().catch((error: unknown) => trouble('not_ended_cleanly', error))
    }
    await models?.close()
    await endTools(parts, place).catch((error: unknown) => trouble('not_ended_cleanly', error))
  }

  async function findServed(): Promise<FoundAgent | undefined> {
    models = await modelsFor(taken, parts, {
      adapter: place.adapter,
      voice,
      meter,
      recorder: place.recording?.recorder,
      replayed: place.replayed,
    })
    // Past the gateway it would ask a provider for everything, and pay.
    if (place.replayed && !models)
      throw new RunFailure('bad_config', 'A replay needs the gateway, and this agent goes past it; see "pawl models".')
    return findAgent(taken, parts, { ...place, leftUsd: meter.leftUsd, models })
  }
  /** What the turn has brought stands, whether or not the program can be kept. */
  async function keep(agent: LiveAgent, found: FoundAgent, vendorId: string | undefined): Promise<boolean> {
    try {
      await agent.returnLogin()
      const likeness = await found.likeness(vendorId)
      parts.warm.keep({
        ...{ session: task.session_id, agentName: task.agent, agent, likeness },
        onEnd: () => place.guard.dropParked(),
      })
      return true
    } catch (error) {
      await trouble('login_not_returned', error)
      return false
    }
  }
  async function leave(agent: LiveAgent): Promise<Exit | undefined> {
    return agent.end(watch.reason ? watch.graceMs(task.agent_config.graceMs) : 2_000).catch(async (error: unknown) => {
      await trouble('not_ended_cleanly', error)
      return undefined
    })
  }
  async function trouble(code: string, error: unknown): Promise<void> {
    voice.log.warn('a program was not left cleanly', { error: messageOf(error), reason: code })
    await voice.note(code, messageOf(error))
  }
}

/** What was being said has been said, or will not be. */
const endsSpeech: ReadonlySet<string> = new Set(['agent.message', 'agent.thinking', 'agent.tool_called'])

/** It has asked instead of saying something. */
const asking = ({ category, message, ...said }: Verdict): Verdict => ({
  ...said,
  outcome: 'blocked',
  ...(said.outcome === 'empty' ? {} : { category, message }),
})

/** What the profile lets this run do, with what people have allowed its task before. */
async function rightsInUse(
  taken: TakenRun,
  parts: RunParts,
  place: Place,
  asked: readonly QuestionRow[],
): Promise<{ verbs: DoorVerbs; permissions: Permissions }> {
  const { task } = taken
  const { voice, profile, adapter, walls, workspace, enforced } = place
  const verbs = runVerbs(taken, parts, voice)
  const asking: PermissionParts = {
    profile,
    workspace: workspace.path,
    walls: { enforced },
    grants: grantsOf(taken, parts),
    ask: (question, call) => verbs.consult([question], call),
    redact: (text) => parts.redactor.value(text),
    record: voice.recordEvent,
    interrupt: (message) => voice.watch.stop({ kind: 'denied', message }),
  }
  const permissions = createPermissions(asking)
  const wayOut = (model: { baseUrl?: string | undefined; hosts?: readonly string[] | undefined }) =>
    // On a loopback that is shared with others everybody could go out by it.
    walls.network !== 'none'
      ? undefined
      : networkAccess({
          profile,
          baseUrl: model.baseUrl,
          hosts: model.hosts,
          questions: asked,
          ask: verbs.ask,
          record: (event) => void Promise.resolve(voice.recordEvent(event)).catch(() => undefined),
          log: voice.log,
        })
  // What serves its model here has its own way out.
  const model = place.models ? {} : { baseUrl: task.agent_config.baseUrl, hosts: adapter.hosts }
  const network = await failingAs('bad_config', () => wayOut(model))
  const reachesNobody = profile.network.allow.length + profile.network.ask.length === 0
  const rights = { verbs, permissions, asking, network: reachesNobody ? undefined : wayOut({}) }
  const runTools = await failingAs('sandbox_error', () => toolsOfRun(taken, parts, place, rights))
  return { verbs: { ...verbs, network, runTools, models: place.models?.open }, permissions }
}

/** For the record only: the run does not wait for it. */
async function keepHeld({ run }: TakenRun, { db }: RunParts, held: NonNullable<LiveAgent['held']>, log: Log): Promise<void> {
  await recordHeldLimits(db, run, held).catch((error: unknown) =>
    log.warn('what holds the limits of a run was not recorded', { error: messageOf(error) }),
  )
}

const overOutput = (megabytes: number): StopReason => ({
  kind: 'limit',
  category: 'output_limit',
  message: `The agent printed more than ${megabytes} MB, which is limits.output of its profile.`,
})

/** The program was told what is left of the budget and has held itself to it. */
const selfStopped = ({ message = 'the budget is used up' }: Verdict, task: string): StopReason => ({
  kind: 'over_budget',
  message: `The agent program stopped by itself at what is left of the budget: ${message} Go on with a larger one: pawl task retry ${task} --budget-usd …`,
})

/** A copy of a workspace is gone after its run, nothing may write while the work is checked, and only a namespace of processes is sure to die with us. */
const mayStay = ({ task }: TakenRun, { workspace, walls }: Place) =>
  task.spec.checks === undefined && sameInside(workspace.source) === workspace.path && walls.unit.enforced
