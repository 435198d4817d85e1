import { randomBytes } from 'node:crypto'
import { availableParallelism } from 'node:os'
import { join } from 'node:path'
import type { Adapter, Verdict } from '../agent.ts'
import { PawlError } from '../domain/error.ts'
import { newId } from '../domain/id.ts'
import type { QuestionAsked } from '../domain/question.ts'
import { fp } from '../failpoint.ts'
import type { Log } from '../log.ts'
import type { Exit } from '../process/child.ts'
import type { Sandbox, Walls } from '../sandbox.ts'
import { insertQuestion, questionsOfTask } from '../store/questions.ts'
import { recordKillUnit, rememberVendorSession, type TakenRun } from '../store/runs.ts'
import { lockTask } from '../store/tasks.ts'
import { watchChanges } from './changes.ts'
import { type DoorVerbs, serveDoor } from './door.ts'
import { failingAs } from './failure.ts'
import { createGate } from './gate.ts'
import { installed, launchSpec, makeDirectories, refuseOpenWalls, withEnvironment, writeSessionFiles } from './prepare.ts'
import { recordChild } from './raw-log.ts'
import { isLost, type RunParts, type Voice } from './run.ts'
import { type PreparedWorkspace, prepareWorkspace } from './workspace.ts'

/** Prepares everything, starts the agent inside its walls, has one turn with it, and leaves nothing running. */
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

  const unit = sandbox.killUnit(run.id, run.fence)
  const walls = {
    unit,
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

interface TurnResult {
  readonly verdict: Verdict
  readonly exit: Exit
}

/** A run that ends well is the last of its task; after any other the work may go on in the same copy. */
const isLast = (result: TurnResult | undefined, { watch }: Voice) =>
  !watch.reason && (result?.verdict.outcome === 'succeeded' || result?.verdict.outcome === 'partial')

/** Work that is not where it belongs is no plain success. */
function lowered(verdict: Verdict, left: string): Verdict {
  if (verdict.outcome !== 'succeeded' && verdict.outcome !== 'partial') return verdict
  return { ...verdict, outcome: 'partial', message: verdict.message ? `${verdict.message} ${left}` : left }
}

/** Starting a process halts our own for a moment; two hundred at once would halt it for seconds, and no walls would stand in time. */
const launching = createGate(4 * availableParallelism())

interface Place {
  readonly voice: Voice
  readonly adapter: Adapter
  readonly sandbox: Sandbox
  readonly walls: Omit<Walls, 'door'>
  readonly enforced: boolean
  readonly workspace: PreparedWorkspace
  readonly records: string
}

async function haveTurn(taken: TakenRun, parts: RunParts, place: Place): Promise<TurnResult> {
  const { task } = taken
  const { voice, adapter, sandbox, walls, workspace } = place
  const { watch } = voice
  const { graceMs } = task.agent_config
  const spec = await launchSpec(taken, parts, adapter, { workspace: workspace.path, home: walls.home })
  const token = randomBytes(24).toString('base64url')
  const plain = await failingAs('bad_config', () => adapter.command(spec))
  const command = await installed(withEnvironment(plain, taken, parts, token), workspace.source)
  await writeSessionFiles(command, walls.home, walls.user)

  if (!(await recordStart(taken, parts, place, spec.resume !== undefined))) watch.stop({ kind: 'lease_lost' })
  const walled = await launching(async () => {
    if (watch.reason) return undefined
    await fp('spawn.before')
    return failingAs('sandbox_error', () => sandbox.launch(command, { ...walls, door: true }))
  })
  if (!walled) return { verdict: { outcome: 'failed', text: '' }, exit: { code: null, signal: null } }
  const { child } = walled
  await fp('spawn.after')
  const recorded = recordChild(child, {
    directory: place.records,
    onLimit: () => watch.stop({ kind: 'output_limit' }),
    onLost: (error) => void voice.note('raw_log_lost', error.message),
  })
  const door = walled.door ? serveDoor(walled.door.server, { token, verbs: doorVerbs(taken, parts) }) : undefined
  watch.begin(() => void child.stop({ graceMs: watch.graceMs(graceMs) }))
  try {
    const conversation = adapter.open(recorded.child, spec)
    const verdict = await conversation.turn({
      prompt: spec.prompt,
      signal: watch.signal,
      emit(event) {
        watch.sawEvent()
        if (event.type === 'agent.session') void learnSession(taken, parts, event.data.vendorId, voice.log)
        return voice.recordEvent(event)
      },
    })
    await conversation.close()
    await fp('exit.observe')
    return { verdict, exit: await child.stop({ graceMs: watch.reason ? watch.graceMs(graceMs) : 2_000 }) }
  } finally {
    await child.stop({ graceMs: 0 })
    await door?.close()
    await recorded.close()
  }
}

/** The kill unit is on disk before anything is started, so that whoever comes after us can end it. False if the run is no longer ours. */
function recordStart(taken: TakenRun, parts: RunParts, place: Place, resumed: boolean): Promise<boolean> {
  const { run, task } = taken
  const { sandbox, walls, enforced } = place
  return parts.journal.transact('killunit.record', async (tx, record) => {
    if (!(await recordKillUnit(tx, run, { unit: walls.unit, walls: sandbox.name, enforced, resumed }))) return false
    const data = { attempt: run.attempt, fence: run.fence, worker: run.worker_id ?? '', walls: sandbox.name, enforced, resumed }
    record({ task: task.id, run: run.id, fence: run.fence, event: { type: 'run.started', data } })
    return true
  })
}

function doorVerbs(taken: TakenRun, parts: RunParts): DoorVerbs {
  const { run, task } = taken
  return {
    describe: () => ({ task: task.id, run: run.id, attempt: run.attempt }),
    async ask(question: QuestionAsked) {
      const { kind, text, options } = question
      const id = newId('question', parts.clock.now())
      // What the agent said before it asked stands before the question in the journal.
      await parts.journal.flush()
      return parts.journal.transact('question.ask', async (tx, record) => {
        const at = new Date(parts.clock.now())
        await lockTask(tx, task.id)
        // An agent that was not told whether its question is stored asks it again.
        const asked = await questionsOfTask(tx, task.id)
        const same = asked.find((earlier) => earlier.run_id === run.id && earlier.state === 'pending' && earlier.text === text)
        if (same) return { id: same.id }
        if (!(await insertQuestion(tx, { ...question, id, task: task.id, run: run.id, fence: run.fence, at })))
          throw new PawlError('conflict', 'This run is over.')
        record({
          task: task.id,
          run: run.id,
          fence: run.fence,
          event: { type: 'question.asked', data: { questionId: id, kind, text, options } },
        })
        return { id }
      })
    },
  }
}

/** Stored as soon as it is known: a crash a moment later can resume the conversation. */
async function learnSession(taken: TakenRun, parts: RunParts, vendorId: string, log: Log): Promise<void> {
  await rememberVendorSession(parts.db, taken.run.session_id, vendorId, new Date(parts.clock.now())).catch((error: unknown) =>
    log.warn('the session id will be stored at the end of the run', { error: String(error) }),
  )
}
