import { join } from 'node:path'
import type { Adapter, Verdict } from '../agent.ts'
import { sleep } from '../clock.ts'
import { messageOf } from '../domain/error.ts'
import { fp } from '../failpoint.ts'
import type { Log } from '../log.ts'
import type { Exit } from '../process/child.ts'
import type { Sandbox, Walls } from '../sandbox.ts'
import { isDiskFull, isPassing } from '../store/database.ts'
import { learnVendorSession, type TakenRun } from '../store/runs.ts'
import { failingAs } from './failure.ts'
import type { LiveAgent } from './program/live-agent.ts'
import { makeDirectories, refuseOpenWalls } from './program/prepare.ts'
import { type FoundAgent, findAgent } from './program/start-agent.ts'
import { isLost, type RunParts, type Voice } from './run.ts'
import { runVerbs } from './run-verbs.ts'
import { archiveSession } from './session/archive.ts'
import { checkAnswer } from './structured-output.ts'
import { watchChanges } from './workspace/changes.ts'
import { type PreparedWorkspace, prepareWorkspace } from './workspace/workspace.ts'

/** Prepares everything, has one turn with the agent inside its walls, and leaves nothing running but what may serve the session's next turn. */
export async function converse(taken: TakenRun, parts: RunParts, voice: Voice): Promise<TurnResult> {
  const { run, task } = taken
  const adapter = parts.adapterNamed(task.agent_config.adapter)
  const { sandbox, health } = await parts.wallsFor(task.agent_config.profile)
  refuseOpenWalls(taken, adapter, health)
  const user = health.enforced ? health.user : undefined
  const home = join(parts.home, 'sessions', task.session_id)
  const records = join(parts.home, 'runs', run.id)
  await makeDirectories(records, home, user)
  const workspace = await failingAs('workspace_error', () =>
    prepareWorkspace({
      path: task.workspace,
      own: task.workspace_own,
      user,
      folder: join(parts.home, 'workspaces'),
      task: task.id,
      fence: run.fence,
      without: parts.home,
      signal: voice.watch.signal,
      onCopy: () =>
        void voice.note(
          'workspace_copy',
          `Copying ${task.workspace}, which the agent's user may not write; changes are brought back at the end.`,
        ),
    }),
  )

  const walls = {
    unit: sandbox.killUnit(run.id, run.fence),
    workspace: { source: workspace.source, path: workspace.path },
    home,
    hidden: [parts.home],
    user,
    network: 'host',
    limits: { processes: 512, openFiles: 4_096 },
  } as const
  const changes = watchChanges(workspace, { sandbox, walls, path: parts.path, voice })
  let result: TurnResult | undefined
  let left: string | undefined
  try {
    result = await haveTurn(taken, parts, { voice, adapter, sandbox, walls, records, workspace, enforced: health.enforced })
  } finally {
    // Whoever has the task now takes the copy over and brings it back.
    if (!isLost(voice.watch)) left = await changes.finish(isLast(result, voice))
  }
  return left === undefined ? result : { ...result, verdict: lowered(result.verdict, left) }
}

export interface TurnResult {
  readonly verdict: Verdict
  /** Undefined while the program lives on for the session's next turn. */
  readonly exit?: Exit | undefined
  /** Another run can go on with the conversation. */
  readonly canResume: boolean
}

/** What a turn needs to know about where it happens. */
export interface Place {
  readonly voice: Voice
  readonly adapter: Adapter
  readonly sandbox: Sandbox
  readonly walls: Omit<Walls, 'door'>
  readonly enforced: boolean
  readonly workspace: PreparedWorkspace
  readonly records: string
}

/** A run that ends well is the last of its task; after any other the work may go on in the same copy. */
const isLast = (result: TurnResult | undefined, { watch }: Voice) =>
  !watch.reason && (result?.verdict.outcome === 'succeeded' || result?.verdict.outcome === 'partial')

/** Work that is not where it belongs is no plain success. */
function lowered(verdict: Verdict, left: string): Verdict {
  if (verdict.outcome !== 'succeeded' && verdict.outcome !== 'partial') return verdict
  return { ...verdict, outcome: 'partial', message: verdict.message ? `${verdict.message} ${left}` : left }
}

async function haveTurn(taken: TakenRun, parts: RunParts, place: Place): Promise<TurnResult> {
  const { task } = taken
  const { voice } = place
  const { watch } = voice
  const found = await findAgent(taken, parts, place)
  if (!found) return { verdict: { outcome: 'failed', text: '' }, canResume: false }
  const { agent } = found
  let stays = false
  try {
    let vendorId: string | undefined
    let learning: Promise<void> = Promise.resolve()
    const verbs = runVerbs(taken, parts, voice)
    const said = await agent.serve({
      watch,
      graceMs: task.agent_config.graceMs,
      records: {
        directory: place.records,
        redactor: parts.redactor,
        onLimit: () => watch.stop({ kind: 'output_limit' }),
        onLost: (error) => void voice.note('raw_log_lost', error.message),
      },
      door: verbs,
      turn: {
        prompt: found.prompt,
        signal: watch.signal,
        emit(event) {
          watch.sawEvent()
          if (event.type === 'agent.session') {
            vendorId = event.data.vendorId
            learning = learning.then(() => learnSession(taken, parts, event.data.vendorId, voice.log))
          }
          return voice.recordEvent(event)
        },
        ask: async (question) => void (await verbs.ask(question)),
        // What the walls allow is allowed: where they do not hold, somebody watches or a profile says so.
        permit: async () => ({ allow: true }),
      },
    })
    await fp('exit.observe')
    await learning
    const verdict = checkAnswer(task.output_schema, said)
    vendorId = verdict.vendorSession ?? vendorId ?? taken.session.vendor_id ?? undefined
    stays = verdict.mayGoOn === true && !watch.reason && mayStay(place) && agent.isAlone()
    const exit = stays ? undefined : await leave(agent)
    // What a crash left behind may be what it crashed of: the archive keeps the last state that was good.
    if (!isLost(watch) && vendorId !== undefined && verdict.category !== 'crashed' && verdict.category !== 'session_missing')
      await archive(taken, parts, place, vendorId)
    // The archive took its time: the run may have been stopped, or the session be somebody else's by now.
    if (stays && !watch.reason) stays = await keep(agent, found, vendorId)
    return { verdict, exit, canResume: found.canResume }
  } catch (error) {
    stays = false
    throw error
  } finally {
    if (!stays || watch.reason) await leave(agent)
  }

  /** What the turn has brought stands, whether or not the program can be kept. */
  async function keep(agent: LiveAgent, found: FoundAgent, vendorId: string | undefined): Promise<boolean> {
    try {
      await agent.returnLogin()
      const likeness = await found.likeness(vendorId)
      parts.warm.keep({ session: task.session_id, agentName: task.agent, agent, likeness })
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

/** A copy of a workspace is gone after its run, and only a namespace of processes is sure to die with us. */
const mayStay = ({ workspace, walls }: Place) => workspace.source === workspace.path && walls.unit.enforced

/** A conversation that could not be archived is still on disk; the run has ended all the same. */
async function archive(taken: TakenRun, parts: RunParts, { adapter, walls, voice }: Place, vendorId: string): Promise<void> {
  if (!adapter.sessions) return
  try {
    await fp('session.archive.before')
    const conversation = {
      db: parts.db,
      home: walls.home,
      files: adapter.sessions,
      session: taken.task.session_id,
      vendorId,
      run: taken.run,
      at: new Date(parts.clock.now()),
    }
    const archived = await whenDatabaseIsBack(parts, voice, () => archiveSession(conversation))
    await fp('session.archive.after')
    for (const { code, detail } of archived?.notes ?? []) await voice.note(code, detail)
  } catch (error) {
    voice.log.warn('a conversation was not archived', {
      session: taken.task.session_id,
      error: messageOf(error),
      reason: 'not_archived',
    })
    await voice.note('not_archived', 'The conversation could not be archived; its files are still on this machine.')
  }
}

const databaseBackWithinMs = 15_000

/** The end of the run waits for the database all the same. One that is full, or that stays away, is not waited for: the files are still on disk. */
async function whenDatabaseIsBack<T>({ clock }: RunParts, { watch }: Voice, work: () => Promise<T>): Promise<T> {
  const deadline = clock.monotonic() + databaseBackWithinMs
  for (let delayMs = 50; ; delayMs = Math.min(delayMs * 2, 1_000)) {
    try {
      return await work()
    } catch (error) {
      if (!isPassing(error) || isDiskFull(error) || watch.reason || clock.monotonic() > deadline) throw error
      await sleep(clock, delayMs)
    }
  }
}

/** Stored as soon as it is known: a crash a moment later can resume the conversation. */
async function learnSession(taken: TakenRun, parts: RunParts, vendorId: string, log: Log): Promise<void> {
  await learnVendorSession(parts.db, taken.run, vendorId, new Date(parts.clock.now())).catch((error: unknown) =>
    log.warn('the session id will be stored at the end of the run', { error: String(error) }),
  )
}
