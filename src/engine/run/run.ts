import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { type Secret, secretsIn } from '../../domain/base/secret-names.ts'
import { visible } from '../../domain/base/visible.ts'
import { messageOf, stackOf } from '../../domain/error.ts'
import type { FileLimits } from '../../domain/files/limits.ts'
import { rightsOf } from '../../domain/profile/resolve.ts'
import { showPaths } from '../../domain/profile/shown-paths.ts'
import type { RunChanged } from '../../store/changes.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { Leftovers } from '../auth/cleanup-journal.ts'
import { persistently } from '../base/await-database.ts'
import type { Ended } from '../base/retry.ts'
import { isLost, type RunContext, spanned } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import { type StopReason, Watch } from '../base/watch.ts'
import type { Doings } from '../base/working.ts'
import type { ToolServing } from '../endpoint/endpoint.ts'
import type { RemoteAct } from '../endpoint/run-tools.ts'
import type { Blobs } from '../files/blobs.ts'
import type { Journal } from '../journal/journal.ts'
import type { Growths } from '../journal/live-text.ts'
import type { ServerHealth } from '../mcp-servers/health.ts'
import type { Money } from '../money/meter.ts'
import type { QuestionParts } from '../questions/settings.ts'
import type { SelfTests } from '../self-test/self-tests.ts'
import type { PictureShelf } from '../workspace/changes/snapshot-cache.ts'
import { storeFolderOf } from '../workspace/changes/store-folder.ts'
import { converse } from './conversation.ts'
import { explainFailure } from './explain.ts'
import { judge, judgeFailure, unstorable } from './judge-run.ts'
import type { Probe } from './probes.ts'
import type { Settler } from './settle.ts'
import type { Warm } from './warm.ts'

/** One run, from its lease to its outcome. */
export interface LiveRun {
  readonly id: string
  readonly taskId: string
  stop(reason: StopReason): void
  /** Nobody can say whether the run is still ours: its agent stands still, and nothing is brought out of the workspace, until `letGo` or a stop. */
  hold(): void
  letGo(): void
  /** Resolves when the run is settled and nothing of it lives. Never rejects. */
  readonly done: Promise<void>
}

export interface RunParts extends RunServices {
  readonly journal: Journal
  /** Told what agents are saying. Undefined where nobody can watch. */
  readonly growths?: Growths | undefined
  /** Where it is looked up what the run is doing. Undefined where nobody can look. */
  readonly doings?: Doings | undefined
  /** Workspaces as runs left them. */
  readonly pictures: PictureShelf
  readonly settler: Settler
  /** Whether the walls hold. */
  readonly selfTests: Pick<SelfTests, 'assertHolds'>
  /** Hides all that Pawl knows to be secret, also what this run is not given: an earlier one may have written it down. */
  readonly hideKnown: () => Promise<void>
  readonly probe: Probe
  readonly warm: Warm
  readonly leftovers: Leftovers
  /** Serves our tools to the agent of a run. */
  readonly tools?: ToolServing | undefined
  /** How questions are asked where their task says nothing, and who is told of them. */
  readonly questions: QuestionParts
  readonly money: Money
  /** What files hold, and how many a task may have and leave. */
  readonly files: { readonly blobs: Blobs; readonly limits: FileLimits }
  readonly serverHealth?: ServerHealth | undefined
  /** Writes what was done on another machine into the audit. */
  readonly auditRemote: (act: RemoteAct, run: { user: string; task: string; run: string }) => Promise<void>
}

export function startRun(taken: TakenRun, parts: RunParts): LiveRun {
  const { run, task } = taken
  const watch = new Watch(parts.clock, { totalMs: task.agent_config.timeoutMs, idleMs: task.agent_config.idleTimeoutMs })
  const log = parts.log.with({ task: task.id, run: run.id })
  const reveals: (() => void)[] = []
  const hide: RunContext['hide'] = (secrets) => {
    for (const { name, value } of secrets) reveals.push(parts.redactor.add(name, value))
  }
  const doing = () => parts.redactor.value(watch.doing)
  parts.doings?.set(task.id, doing)
  const done = perform(taken, parts, watch, log, hide)
    .catch((error: unknown) => log.error('a run could not be settled', { error: String(error), stack: stackOf(error) }))
    .finally(() => {
      watch.close()
      if (parts.doings?.get(task.id) === doing) parts.doings.delete(task.id)
      for (const reveal of reveals) reveal()
    })
  return {
    id: run.id,
    taskId: task.id,
    stop: (reason) => watch.stop(reason),
    hold: () => watch.hold(),
    letGo: () => watch.letGo(),
    done,
  }
}

async function perform(taken: TakenRun, parts: RunParts, watch: Watch, log: Log, hide: RunContext['hide']): Promise<void> {
  const { run, task } = taken
  const startedAtMs = parts.clock.now()
  const note = (code: string, detail: string) => recordEvent({ type: 'run.noted', data: { code, detail } })
  const shown = showPaths(rightsOf(task.agent_config).mounts)
  let runNo = 0
  const recordEvent: RunContext['recordEvent'] = (said, booking, frees) => {
    const event = shown && said.type.startsWith('agent.') ? shown(said) : said
    const entry = { task: task.id, run: run.id, runNo: runNo++, fence: run.fence, at: new Date(parts.clock.now()), event }
    return parts.journal.append({ ...entry, ...(booking ? { booking } : {}), ...(frees ? { frees } : {}) })
  }

  let end: Ended
  let changes: RunChanged | undefined
  const keepChanges: RunContext['keepChanges'] = (changed) => {
    changes = changed
  }
  let vendorSession: string | undefined
  let isUnexplained = false
  let complaint: string | undefined
  try {
    // Before anything is said: a key that is known already must not be logged because it stands in the prompt.
    hide(keysOf(taken, parts))
    await parts.hideKnown()
    log.debug('a run starts', { agent: task.agent, prompt: task.prompt.slice(0, 200) })
    const result = await converse(taken, parts, { watch, log, recordEvent, note, hide, keepChanges })
    vendorSession = result.verdict.vendorSession
    complaint = result.verdict.complaint
    isUnexplained = result.verdict.isUnexplained === true && !watch.reason
    end = judge(result, watch)
  } catch (error) {
    end = judgeFailure(error, watch, log)
  }
  if (shown) end = { ...end, ...shown({ text: end.text, message: end.message, summary: end.summary }) }
  end = parts.redactor.value({ ...end, changes: isLost(watch) ? undefined : changes })
  const said = await parts.journal.withdraw(run.id)
  // The agent is dead and its result does not count. If nobody else has taken the task meanwhile, it is ours to give back.
  if (isLost(watch)) log.warn('the lease of a run was lost; its result is dropped', { reason: 'lease_lost' })
  logEnd(log, end, parts.redactor.value(complaint))
  parts.telemetry?.run({ ...spanned(taken), ...spentBy(end), startedAtMs, endedAtMs: parts.clock.now() })
  if (end.outcome !== 'succeeded') log.debug('what a run said last', { text: end.text.slice(0, 200) })
  await fp('outcome.record')
  const settling = { id: run.id, taskId: task.id, sessionId: run.session_id, fence: run.fence }
  try {
    await persistently(parts, log, () => parts.settler.settleRun(settling, end, { vendorSession, startedAtMs, said }))
  } catch (error) {
    log.error('the end of a run cannot be stored as it was', { error: messageOf(error), stack: stackOf(error) })
    // If it is something that was said, the journal finds out which.
    for (const entry of said) void parts.journal.append(entry)
    await parts.journal.flush()
    await persistently(parts, log, () => parts.settler.settleRun(settling, unstorable, { startedAtMs }))
  }
  // Whoever takes a lost run up goes on from where it began.
  if (!isLost(watch))
    await parts.pictures
      .clear(storeFolderOf(parts.home, { task: task.id, fence: run.fence }))
      .catch((error: unknown) => log.warn('a picture of a workspace was not removed', { error: messageOf(error) }))
  const { agent_config: agent } = task
  const { path, userHome, environment } = parts
  const place = { path, folder: task.workspace, home: userHome, environment, untrusted: [parts.home] }
  const { onFound } = parts
  if (isUnexplained)
    void explainFailure({ adapter: parts.adapterNamed(agent.adapter, agent.options), agent, place, log, onFound })
}

/**
 * One line for whoever looks after it. A failure is an error, with the end of what the program printed; a limit with a known end is none, since its task only waits.
 * The complaint is cut when its secrets are hidden: half of one would not be recognised.
 */
function logEnd(log: Log, end: Ended, complaint: string | undefined): void {
  const isError = end.outcome === 'failed' && end.category !== 'usage_limit'
  log[isError ? 'error' : 'info']('a run ended', {
    outcome: end.outcome,
    category: end.category,
    detail: end.message,
    exitCode: end.exitCode,
    signal: end.signal,
    ...(end.outcome === 'failed' && { stdout: lastOf(end.text, 500) }),
    stderr: complaint && lastOf(complaint, 2_000),
    retryAt: end.retryAt?.toISOString(),
  })
}

/** The end of a text says most. What cannot be seen is shown, so that nothing in it steers the terminal that a log is read on. */
function lastOf(text: string, most: number): string {
  const whole = text.trim()
  const shown = visible(whole.slice(-most).toWellFormed())
  return whole.length <= most ? shown : `(${whole.length - most} more characters) … ${shown}`
}

const spentBy = ({ outcome, category, usage, costUsd }: Ended) => ({
  outcome,
  category,
  inputTokens: usage?.inputTokens,
  outputTokens: usage?.outputTokens,
  costUsd,
})

/** What is known of an agent's keys before it is started: those in Pawl's own environment. */
function keysOf({ task: { agent_config: agent } }: TakenRun, parts: RunParts): Secret[] {
  const login = parts.adapterNamed(agent.adapter, agent.options).login?.variables ?? []
  const named = parts.environment([...login, ...(agent.auth?.env ?? [])])
  const keys = Object.entries(named).map(([name, value]) => ({ name, value }))
  return [...keys, ...secretsIn({ ...parts.environment(agent.env.pass), ...agent.env.set })]
}
