import { randomBytes } from 'node:crypto'
import { chown, mkdir, open, readFile, rm } from 'node:fs/promises'
import { join } from 'node:path'
import type { Adapter, Command, LaunchSpec, Verdict } from '../agent.ts'
import type { Clock } from '../clock.ts'
import { messageOf, PawlError } from '../domain/error.ts'
import type { NewEvent } from '../domain/event.ts'
import { newId } from '../domain/id.ts'
import type { Category } from '../domain/outcome.ts'
import type { QuestionAsked } from '../domain/question.ts'
import { fp } from '../failpoint.ts'
import type { Log } from '../log.ts'
import type { Child, Exit } from '../process/child.ts'
import { which } from '../process/which.ts'
import type { Sandbox, SandboxHealth, Walled } from '../sandbox.ts'
import type { Db } from '../store/database.ts'
import { insertQuestion } from '../store/questions.ts'
import { recordKillUnit, recordPid, rememberVendorSession, runsOfTask, type TakenRun } from '../store/runs.ts'
import { serveDoor } from './door.ts'
import type { Journal } from './journal.ts'
import { composePrompt } from './prompt.ts'
import { recordChild } from './raw-log.ts'
import type { Ended } from './retry.ts'
import type { Settler } from './settle.ts'
import { type StopReason, Watch } from './watch.ts'
import { type AgentUser, diffSummary, type PreparedWorkspace, prepareWorkspace } from './workspace.ts'

/** One run, from its lease to its outcome. */
export interface LiveRun {
  readonly id: string
  readonly taskId: string
  stop(reason: StopReason): void
  /** Resolves when the run is settled and nothing of it lives. Never rejects. */
  readonly done: Promise<void>
}

export interface RunParts {
  readonly db: Db
  readonly journal: Journal
  readonly settler: Settler
  readonly clock: Clock
  readonly log: Log
  readonly home: string
  readonly adapterNamed: (name: string) => Adapter
  /** The walls for a profile, and whether they hold. */
  readonly wallsFor: (profile: string) => Promise<{ sandbox: Sandbox; health: SandboxHealth }>
  /** Who agents run as when Pawl is root. */
  readonly agentUser: AgentUser | undefined
  /** The search path of agents, and variables of Pawl's own environment by name. */
  readonly path: string
  readonly environment: (names: readonly string[]) => Record<string, string>
}

/** A failure that is known before or instead of a verdict. */
class RunFailure extends Error {
  readonly category: Category
  constructor(category: Category, message: string) {
    super(message)
    this.category = category
  }
}

export function startRun(taken: TakenRun, parts: RunParts): LiveRun {
  const { run, task } = taken
  const watch = new Watch(parts.clock, { totalMs: task.agent_config.timeoutMs, idleMs: task.agent_config.idleTimeoutMs })
  const log = parts.log.with({ task: task.id, run: run.id })
  const done = perform(taken, parts, watch, log)
    .catch((error: unknown) => log.error('a run could not be settled', { error: String(error), stack: error instanceof Error ? error.stack : undefined }))
    .finally(() => watch.close())
  return { id: run.id, taskId: task.id, stop: (reason) => watch.stop(reason), done }
}

async function perform(taken: TakenRun, parts: RunParts, watch: Watch, log: Log): Promise<void> {
  const { run, task } = taken
  const startedAtMs = parts.clock.now()
  const note = (code: string, detail: string) => recordEvent({ type: 'run.noted', data: { code, detail } })
  let runNo = 0
  const recordEvent = (event: NewEvent) =>
    parts.journal.append({ task: task.id, run: run.id, runNo: runNo++, fence: run.fence, at: new Date(parts.clock.now()), event })

  let end: Ended
  let vendorSession: string | undefined
  try {
    const result = await converse(taken, parts, { watch, log, recordEvent, note })
    vendorSession = result.verdict.vendorSession
    end = judge(result.verdict, result.exit, watch)
  } catch (error) {
    end = judgeFailure(error, watch, log)
  }
  await parts.journal.flush()
  // The agent is dead and its result does not count. If nobody else has taken the task meanwhile, it is ours to give back.
  if (isLost(watch)) log.warn('the lease of a run was lost; its result is dropped', { reason: 'lease_lost' })
  await fp('outcome.record')
  await persistently(parts, log, () =>
    parts.settler.settleRun({ id: run.id, taskId: task.id, sessionId: run.session_id, fence: run.fence }, end, { vendorSession, startedAtMs }),
  )
}

interface Voice {
  readonly watch: Watch
  readonly log: Log
  readonly recordEvent: (event: NewEvent) => Promise<void> | undefined
  readonly note: (code: string, detail: string) => Promise<void> | undefined
}

/** Prepares everything, starts the agent inside its walls, has one turn with it, and leaves nothing running. */
async function converse(taken: TakenRun, parts: RunParts, voice: Voice): Promise<{ verdict: Verdict; exit: Exit }> {
  const { run, task } = taken
  const { watch, note, recordEvent } = voice
  const agent = task.agent_config
  const adapter = parts.adapterNamed(agent.adapter)
  const { sandbox, health } = await parts.wallsFor(agent.profile)
  refuseOpenWalls(taken, adapter, health)
  const user = health.enforced ? parts.agentUser : undefined

  const directory = join(parts.home, 'runs', run.id)
  const sessionHome = join(parts.home, 'sessions', task.session_id)
  await makeDirectories(directory, sessionHome, user)
  const workspace = await inWorkspace(() =>
    prepareWorkspace({ path: task.workspace, own: task.workspace_own, scratch: join(parts.home, 'workspaces', `${task.id}.copy`), user }),
  )
  if (workspace.source !== workspace.path) note('workspace_copy', `The agent works on a copy of ${workspace.path} that its user may write; changes are brought back at the end.`)

  const spec = await launchSpec(taken, parts, adapter, { workspace: workspace.path, home: sessionHome })
  const token = randomBytes(24).toString('base64url')
  const command = await installed(withEnvironment(inConfig(() => adapter.command(spec)), taken, parts, token), workspace.source)
  await writeSessionFiles(command, sessionHome, user)

  const unit = sandbox.killUnit(run.id, run.fence)
  const resumed = spec.resume !== undefined
  const ours = await parts.journal.transact('killunit.record', async (tx, record) => {
    if (!(await recordKillUnit(tx, run, { unit, walls: sandbox.name, enforced: health.enforced, resumed }))) return false
    const data = { attempt: run.attempt, fence: run.fence, worker: run.worker_id ?? '', walls: sandbox.name, enforced: health.enforced, resumed }
    record({ task: task.id, run: run.id, fence: run.fence, event: { type: 'run.started', data } })
    return true
  })
  if (!ours) watch.stop({ kind: 'lease_lost' })
  if (watch.reason) return { verdict: { outcome: 'failed', text: '' }, exit: { code: null, signal: null } }

  const walls = {
    unit,
    workspace: { source: workspace.source, path: workspace.path },
    home: sessionHome,
    hidden: [parts.home],
    user,
    network: 'host',
    limits: { processes: 512, openFiles: 4_096 },
  } as const
  await fp('spawn.before')
  const walled = await inWalls(() => sandbox.launch(command, { ...walls, door: true }))
  await fp('spawn.after')
  void recordPid(parts.db, run, walled.child.pid).catch((error: unknown) => voice.log.debug('the pid was not recorded', { error: String(error) }))

  const recorded = recordChild(walled.child, { directory, onLimit: () => watch.stop({ kind: 'output_limit' }) })
  const door = walled.door ? serveDoor(walled.door.server, { token, verbs: doorVerbs(taken, parts) }) : undefined
  watch.begin(() => endChild(walled.child, watch, agent.graceMs))
  try {
    const conversation = adapter.open(recorded.child, spec)
    const verdict = await conversation.turn({
      prompt: spec.prompt,
      signal: watch.signal,
      emit(event) {
        watch.sawEvent()
        if (event.type === 'agent.session') void learnSession(taken, parts, event.data.vendorId, voice.log)
        return recordEvent(event)
      },
    })
    await conversation.close()
    await fp('exit.observe')
    const exit = await walled.child.stop({ graceMs: watch.reason ? watch.graceMs(agent.graceMs) : 2_000 })
    return { verdict, exit }
  } finally {
    await walled.child.stop({ graceMs: 0 })
    await door?.close()
    await recorded.close()
    await finishWorkspace(workspace, { sandbox, walls, command, note, recordEvent, lost: isLost(watch) })
  }
}

const isLost = (watch: Watch) => watch.reason?.kind === 'lease_lost'

/** Hard facts first: who stopped it and why outranks what the agent says of itself. */
function judge(verdict: Verdict, exit: Exit, watch: Watch): Ended {
  const facts = { text: verdict.text, usage: verdict.usage, costUsd: verdict.costUsd, exitCode: exit.code, signal: exit.signal }
  return watch.reason ? { ...facts, ...stopped(watch.reason) } : { ...facts, outcome: verdict.outcome, category: verdict.category, message: verdict.message, retryAt: verdict.retryAt }
}

function judgeFailure(error: unknown, watch: Watch, log: Log): Ended {
  if (watch.reason) return { text: '', ...stopped(watch.reason) }
  if (error instanceof RunFailure) return { outcome: 'failed', category: error.category, message: error.message, text: '' }
  log.error('a run failed inside Pawl', { error: messageOf(error), stack: error instanceof Error ? error.stack : undefined })
  return { outcome: 'failed', category: 'internal', message: 'Pawl made a mistake while it ran this; its log has the details.', text: '' }
}

function stopped(reason: StopReason): Pick<Ended, 'outcome' | 'category' | 'message'> {
  switch (reason.kind) {
    case 'cancelled':
      return { outcome: 'cancelled' }
    case 'interrupted':
      return { outcome: 'interrupted' }
    case 'lease_lost':
      return { outcome: 'lost' }
    case 'timed_out':
      return { outcome: 'timed_out', category: reason.category, message: reason.message }
    case 'output_limit':
      return { outcome: 'failed', category: 'output_limit', message: 'The agent printed more than 256 MiB.' }
  }
}

function refuseOpenWalls(taken: TakenRun, adapter: Adapter, health: SandboxHealth): void {
  const { task } = taken
  if (health.enforced || task.attended || adapter.isOurs || task.agent_config.profile === 'unattended-open') return
  const cure = health.fix ? `${health.fix}, or ` : ''
  throw new RunFailure(
    'sandbox_error',
    `Agent "${task.agent}" may not run unattended without walls, and none can be built here: ${health.detail} Cure: ${cure}run "pawl doctor --fix", or name the profile unattended-open.`,
  )
}

async function makeDirectories(directory: string, sessionHome: string, user: AgentUser | undefined): Promise<void> {
  await mkdir(directory, { recursive: true, mode: 0o700 })
  await mkdir(sessionHome, { recursive: true, mode: 0o700 })
  if (user) await chown(sessionHome, user.uid, user.gid)
}

async function launchSpec(taken: TakenRun, parts: RunParts, adapter: Adapter, place: { workspace: string; home: string }): Promise<LaunchSpec> {
  const { run, task, session } = taken
  const agent = task.agent_config
  const fresh = task.continuation?.kind === 'retry' && task.continuation.fresh
  const resume = adapter.can.resume && !fresh ? (session.vendor_id ?? undefined) : undefined
  const earlier = (await runsOfTask(parts.db, task.id)).filter((other) => other.id !== run.id).at(-1)
  const options = adapter.options.safeParse(agent.options)
  if (!options.success) throw new RunFailure('bad_config', `Agent "${agent.name}": ${options.error.issues.map((issue) => `${issue.path.join('.')}: ${issue.message}`).join('; ')}`)
  return {
    options: options.data,
    model: agent.model,
    systemPrompt: agent.systemPromptFile ? await readSystemPrompt(agent.systemPromptFile) : agent.systemPrompt,
    prompt: composePrompt({ prompt: task.prompt, continuation: task.continuation, resumed: resume !== undefined, earlierOutcome: earlier?.outcome ?? null }),
    ...place,
    resume,
    extraArgs: task.extra_args,
  }
}

async function readSystemPrompt(file: string): Promise<string> {
  return readFile(file, 'utf8').catch((error: unknown) => {
    throw new RunFailure('bad_config', `The system prompt file ${file} cannot be read: ${messageOf(error)}.`)
  })
}

function withEnvironment(command: Command, taken: TakenRun, parts: RunParts, token: string): Command {
  const { env } = taken.task.agent_config
  const ours = { PATH: parts.path, PAWL_TASK_ID: taken.task.id, PAWL_RUN_ID: taken.run.id, PAWL_DOOR_TOKEN: token }
  return { ...command, env: { ...ours, ...parts.environment(env.pass), ...env.set, ...command.env } }
}

async function installed(command: Command, folder: string): Promise<Command> {
  const found = await which(command.file, { path: command.env.PATH ?? '', folder })
  if ('file' in found) return command.file.includes('/') ? command : { ...command, file: found.file }
  const what = found.missing === 'not_executable' ? `${found.looked} may not be executed; check its permissions (chmod +x).` : `"${command.file}" is not installed, or not on PATH.`
  throw new RunFailure('binary_missing', `The agent's program ${what} "pawl agents" shows what is there.`)
}

/** The home belongs to the agent, who may have left a link of that name there: the old entry goes first, and the new one is made, never followed. */
async function writeSessionFiles(command: Command, home: string, user: AgentUser | undefined): Promise<void> {
  for (const [name, text] of Object.entries(command.files ?? {})) {
    const path = join(home, name)
    await rm(path, { force: true, recursive: true })
    const file = await open(path, 'wx', 0o600)
    try {
      await file.writeFile(text)
      if (user) await file.chown(user.uid, user.gid)
    } finally {
      await file.close()
    }
  }
}

const inWorkspace = <T>(work: () => Promise<T>) => asFailure(work, 'workspace_error')
const inWalls = (work: () => Promise<Walled>) => asFailure(work, 'sandbox_error')

async function asFailure<T>(work: () => Promise<T>, category: Category): Promise<T> {
  try {
    return await work()
  } catch (error) {
    if (error instanceof PawlError) throw new RunFailure(category, error.message)
    throw error
  }
}

function inConfig<T>(work: () => T): T {
  try {
    return work()
  } catch (error) {
    if (error instanceof PawlError) throw new RunFailure('bad_config', error.message)
    throw error
  }
}

function endChild(child: Child, watch: Watch, graceMs: number): void {
  void child.stop({ graceMs: watch.graceMs(graceMs) })
}

function doorVerbs(taken: TakenRun, parts: RunParts) {
  const { run, task } = taken
  return {
    describe: () => ({ task: task.id, run: run.id, attempt: run.attempt }),
    async ask(question: QuestionAsked) {
      const id = newId('question', parts.clock.now())
      await parts.journal.flush()
      await parts.journal.transact('question.ask', async (tx, record) => {
        const at = new Date(parts.clock.now())
        if (!(await insertQuestion(tx, { ...question, id, task: task.id, run: run.id, fence: run.fence, at }))) throw new PawlError('conflict', 'This run is over.')
        record({ task: task.id, run: run.id, fence: run.fence, event: { type: 'question.asked', data: { questionId: id, kind: question.kind, text: question.text, options: question.options } } })
      })
      return { id }
    },
  }
}

async function learnSession(taken: TakenRun, parts: RunParts, vendorId: string, log: Log): Promise<void> {
  await rememberVendorSession(parts.db, taken.run.session_id, vendorId, new Date(parts.clock.now())).catch((error: unknown) =>
    log.warn('the session id will be stored at the end of the run', { error: String(error) }),
  )
}

/** Says what changed and brings it back where the run worked on a copy. A failure here is told, and never changes the outcome. */
async function finishWorkspace(
  workspace: PreparedWorkspace,
  context: { sandbox: Sandbox; walls: Omit<Parameters<Sandbox['launch']>[1], 'door'>; command: Command; note: Voice['note']; recordEvent: Voice['recordEvent']; lost: boolean },
): Promise<void> {
  const { sandbox, walls, command, note, recordEvent } = context
  // Whoever has the task now works on the same copy and brings it back.
  if (context.lost) return
  try {
    const changed = await diffSummary(workspace.source, (args) => runGit(sandbox, walls, command, args))
    if (changed) await recordEvent({ type: 'workspace.changed', data: changed })
    const back = await workspace.finish()
    if (back && back.conflicts.length > 0) await note('workspace_conflict', `Changed on both sides and left in ${workspace.source}: ${back.conflicts.slice(0, 20).join(', ')}`)
    if (back && back.refused.length > 0) await note('workspace_refused', `Not regular files, left behind: ${back.refused.slice(0, 20).join(', ')}`)
  } catch (error) {
    await note('workspace_error', `What the agent changed is still in ${workspace.source}: ${messageOf(error)}`)
  }
}

async function runGit(sandbox: Sandbox, walls: Omit<Parameters<Sandbox['launch']>[1], 'door'>, command: Command, args: readonly string[]): Promise<string | undefined> {
  const env = { PATH: command.env.PATH ?? '', GIT_CONFIG_NOSYSTEM: '1', GIT_CONFIG_GLOBAL: '/dev/null', GIT_TERMINAL_PROMPT: '0' }
  const safe = ['-c', 'safe.directory=*', '-c', 'core.hooksPath=/dev/null', '-c', 'core.fsmonitor=false']
  const { child } = await sandbox.launch({ file: 'git', args: [...safe, ...args], env }, { ...walls, door: false })
  child.stdin.end()
  child.stderr.resume()
  const timer = setTimeout(() => void child.stop({ graceMs: 0 }), 5_000)
  try {
    let text = ''
    for await (const chunk of child.stdout) if (text.length < 1_000_000) text += String(chunk)
    const exit = await child.exited
    return exit.code === 0 ? text : undefined
  } finally {
    clearTimeout(timer)
    await child.stop({ graceMs: 0 })
  }
}

/** The end of a run must be written: while the database is away we keep trying, as long as the lease may still be ours. */
async function persistently<T>(parts: RunParts, log: Log, work: () => Promise<T>): Promise<T> {
  for (let delayMs = 100; ; delayMs = Math.min(delayMs * 2, 2_000)) {
    try {
      return await work()
    } catch (error) {
      if (delayMs > 60_000) throw error
      log.warn('the end of a run is not stored yet', { error: String(error) })
      await new Promise<void>((again) => void parts.clock.after(delayMs, again))
    }
  }
}
