import { createHash, randomBytes, randomUUID } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { posix } from 'node:path'
import type { Command, LaunchSpec } from '../agent.ts'
import { type Category, categories, type SessionCare } from '../domain/outcome.ts'
import { secretsIn } from '../domain/redact/names.ts'
import { fp } from '../failpoint.ts'
import type { KillUnit } from '../process/child.ts'
import { recordKillUnit, runsOfTask, type TakenRun, toolsRan } from '../store/runs.ts'
import type { RunRow } from '../store/tables.ts'
import { type Entrance, findAccess, type OpenAccess } from './access.ts'
import type { Place } from './conversation.ts'
import { serveDoor } from './door.ts'
import { failingAs } from './failure.ts'
import { createGate } from './gate.ts'
import { writeHomeFile } from './home-files.ts'
import { createLiveAgent, type LiveAgent } from './live-agent.ts'
import { installed, type Wanted, wantedOf, withEnvironment } from './prepare.ts'
import { composePrompt } from './prompt.ts'
import { recordChild } from './raw-log.ts'
import type { RunParts } from './run.ts'
import { type Passed, passGate } from './session-gate.ts'
import { conversationMark } from './session-home.ts'
import type { Likeness } from './warm.ts'

/** A program that is ready for this run's turn: the session's own that was waiting, or a new one. */
export interface FoundAgent {
  readonly agent: LiveAgent
  readonly prompt: string
  readonly canResume: boolean
  /** What the next run must want to be served by it; asked again after the turn, which may have changed the login and the conversation. */
  likeness(vendorId: string | undefined): Promise<Likeness>
}

/** Starting a process halts our own for a moment; two hundred at once would halt it for seconds, and no walls would stand in time. */
const launching = createGate(4 * availableParallelism())

/** Undefined if the run was stopped, or was no longer ours, before there was a program. */
export async function findAgent(taken: TakenRun, parts: RunParts, place: Place): Promise<FoundAgent | undefined> {
  const { run, task, session } = taken
  const { adapter, walls, workspace, voice } = place
  const { watch } = voice
  const program = await parts.probe(task.agent_config, workspace.path)
  const wanted = await wantedOf(taken, adapter, { workspace: workspace.path, home: walls.home, walled: place.enforced, program })
  const entrance = () =>
    findAccess({
      agent: task.agent_config,
      login: adapter.login,
      environment: parts.environment,
      userHome: parts.userHome,
      sessionHome: walls.home,
      user: walls.user,
      leftovers: parts.leftovers,
      clock: parts.clock,
    })
  const likeness = async (vendorId: string | undefined): Promise<Likeness> => ({
    ...likenessOf(wanted, taken, parts, place),
    access: (await entrance()).likeness,
    conversation: (vendorId && adapter.sessions && (await conversationMark(walls.home, adapter.sessions, vendorId))) || '',
  })

  const earlier = run.fence > 1 ? await earlierRuns(taken, parts) : []
  const care = careAfter(earlier)
  const fresh = task.continuation?.kind === 'retry' && task.continuation.fresh
  const warm = await waitingAgent()
  const passed: Passed = warm
    ? { how: 'resumed', resume: session.vendor_id! }
    : await passGate({
        db: parts.db,
        journal: parts.journal,
        clock: parts.clock,
        log: voice.log,
        adapter,
        session,
        task,
        run,
        home: walls.home,
        user: walls.user,
        workspace: workspace.path,
        model: wanted.model,
        version: wanted.version,
        care,
        fresh,
      })
  if (passed.how === 'lost') watch.stop({ kind: 'lease_lost' })
  const prompt = composePrompt({
    prompt: task.prompt,
    continuation: task.continuation,
    // Whoever is told the story so far knows it like one who remembers it.
    resumed: passed.resume !== undefined || passed.preface !== undefined,
    preface: passed.preface,
    earlier: earlier.at(-1),
    toolsRan: earlier.length > 0 && (await toolsRan(parts.db, task.id)),
    outputSchema: adapter.can.structuredOutput ? undefined : (task.output_schema ?? undefined),
  })
  const found = (agent: LiveAgent | undefined) => agent && { agent, prompt, likeness, canResume: adapter.can.resume }
  if (warm) return found(await goOn(warm))
  const newSession = adapter.can.preassignSession && passed.resume === undefined ? randomUUID() : undefined
  return found(await launch({ ...wanted, prompt, resume: passed.resume, newSession }, await entrance()))

  async function waitingAgent(): Promise<LiveAgent | undefined> {
    if (!adapter.can.warm) return undefined
    if (!fresh && care === 'keep' && session.vendor_id !== null && session.adopted_from === null)
      return parts.warm.take(session.id, await likeness(session.vendor_id))
    await parts.warm.drop(session.id)
    return undefined
  }

  async function goOn(agent: LiveAgent): Promise<LiveAgent | undefined> {
    voice.hide(agent.secrets())
    await writeRunFile()
    if (await recordStart(taken, parts, place, { unit: agent.unit, resumed: true })) return agent
    await agent.end(0)
    watch.stop({ kind: 'lease_lost' })
    return undefined
  }

  async function launch(spec: Omit<LaunchSpec, 'access'>, way: Entrance): Promise<LiveAgent | undefined> {
    const access = await way.open()
    try {
      const agent = await launchWith({ ...spec, access: access.access }, access)
      if (!agent) await access.close()
      return agent
    } catch (error) {
      await access.close()
      throw error
    }
  }

  async function launchWith(spec: LaunchSpec, access: OpenAccess): Promise<LiveAgent | undefined> {
    const token = randomBytes(24).toString('base64url')
    const plain = await failingAs('bad_config', () => adapter.command(spec))
    const ids: Record<string, string> = adapter.can.warm ? {} : { PAWL_TASK_ID: task.id, PAWL_RUN_ID: run.id }
    const added = { taken, doorToken: token, ids, access: access.variables }
    const command = await installed(withEnvironment(plain, parts, added), workspace.source)
    voice.hide([...secretsIn(command.env), ...access.secrets()])
    await writeSessionFiles(command)
    if (adapter.can.warm) await writeRunFile()
    if (!(await recordStart(taken, parts, place, { unit: walls.unit, resumed: spec.resume !== undefined })))
      watch.stop({ kind: 'lease_lost' })
    const walled = await launching(async () => {
      if (watch.reason) return undefined
      await fp('spawn.before')
      return failingAs('sandbox_error', () => place.sandbox.launch(command, { ...walls, door: true }))
    })
    if (!walled) return undefined
    await fp('spawn.after')
    return createLiveAgent({
      walled,
      conversation: (child) => adapter.open(child, spec),
      recorded: recordChild(walled.child),
      door: walled.door && serveDoor(walled.door.server, { token, tools: parts.tools, log: voice.log }),
      unit: walls.unit,
      environment: command.env,
      access,
      clock: parts.clock,
    })
  }

  async function writeSessionFiles(command: Command): Promise<void> {
    for (const [path, text] of Object.entries(command.files ?? {}))
      await writeHomeFile({ home: walls.home, path }, text, { user: walls.user })
  }

  /** A program that serves many runs cannot be told by its environment which one it is at now. */
  function writeRunFile(): Promise<void> {
    const text = JSON.stringify({ task: task.id, run: run.id, attempt: run.attempt })
    return writeHomeFile({ home: walls.home, path: '.pawl-run.json' }, text, { user: walls.user })
  }
}

/** The kill unit is on disk before anything is started, so that whoever comes after us can end it. False if the run is no longer ours. */
function recordStart(
  taken: TakenRun,
  parts: RunParts,
  { sandbox, enforced }: Place,
  { unit, resumed }: { unit: KillUnit; resumed: boolean },
): Promise<boolean> {
  const { run, task } = taken
  return parts.journal.transact('killunit.record', async (tx, record) => {
    if (!(await recordKillUnit(tx, run, { unit, walls: sandbox.name, enforced, resumed }))) return false
    const data = { attempt: run.attempt, fence: run.fence, worker: run.worker_id ?? '', walls: sandbox.name, enforced, resumed }
    record({ task: task.id, run: run.id, fence: run.fence, event: { type: 'run.started', data } })
    return true
  })
}

/** Everything that a program was started with, and that the next run must want alike. */
function likenessOf(wanted: Wanted, { task }: TakenRun, parts: RunParts, { workspace, sandbox, enforced }: Place): Likeness {
  const agent = task.agent_config
  return {
    adapter: agent.adapter,
    profile: `${agent.profile} ${sandbox.name} ${enforced}`,
    environment: digest({
      path: parts.path,
      passed: parts.environment(agent.env.pass),
      set: agent.env.set,
      baseUrl: agent.baseUrl,
    }),
    workspace: posix.normalize(`${workspace.path}\0${workspace.source}`),
    model: wanted.model ?? '',
    systemPrompt: digest(wanted.systemPrompt ?? null),
    options: digest({
      options: wanted.options,
      args: wanted.extraArgs,
      schema: wanted.outputSchema,
      turns: wanted.maxTurns,
      usd: wanted.maxUsd,
    }),
    program: `${wanted.program} ${wanted.version}`,
  }
}

const digest = (value: unknown) =>
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
