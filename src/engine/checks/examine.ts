import type { Verdict } from '../../agents/port.ts'
import { messageOf } from '../../domain/error.ts'
import { loweredBy, readHeader } from '../../domain/task/agent-header.ts'
import { summaryOf } from '../../domain/task/summary.ts'
import type { TakenRun } from '../../store/runs.ts'
import { hasSubtasksToHear } from '../../store/subtasks.ts'
import { launchingSandbox, RunFailure } from '../base/failure.ts'
import { type ChecksSaid, isToRepeat } from '../base/retry.ts'
import { isLost, type RunContext, type TurnResult } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import type { Settled } from '../workspace/settle-guard.ts'
import { type ProveParts, proveWork, type Site } from './prove.ts'
import type { ChecksResult } from './run-checks.ts'

/** What a turn came to, seen from outside of the agent. */
export interface Examined extends TurnResult {
  readonly checks?: ChecksSaid | undefined
  readonly summary?: string | undefined
  /** What the checks did to the workspace. */
  readonly settled?: Settled | undefined
}

/** How the agent itself sees its work counts first, and only downwards; then what the checks of the task say of it. To be called when nothing of the agent writes any more. */
export async function examine(
  taken: TakenRun,
  parts: ProveParts & Pick<RunServices, 'db'>,
  voice: RunContext,
  site: Site,
  result: TurnResult,
): Promise<Examined> {
  const verdict = asTheAgentSays(result.verdict)
  const said = { ...result, verdict, summary: summaryOf(verdict.text) }
  const { checks } = taken.task.spec
  if (!checks || !endedWell(verdict) || repeats(taken, result) || voice.watch.reason) return said
  // What its subtasks do is a part of the work: it is checked when the run has ended that has heard of them.
  // While the database is away nobody can tell; checking too early costs a try, checking too late would cost the proof.
  if (await hasSubtasksToHear(parts.db, taken.task.id).catch(() => false)) return said
  try {
    const proved = await launchingSandbox(() =>
      proveWork(parts, site, {
        id: taken.run.id,
        task: taken.task,
        checks,
        signal: voice.watch.signal,
        emit(event) {
          if (event.type === 'check.started') voice.watch.checks(event.data.name)
          if (event.type === 'check.ended') voice.watch.checks(undefined)
          return voice.recordEvent(event)
        },
        isHeld: () => voice.watch.isHeld,
        hide: voice.hide,
        async isOurs() {
          await voice.watch.untilConfirmed()
          return !isLost(voice.watch)
        },
        onDiskLimit: (message) => voice.watch.stop({ kind: 'limit', category: 'disk_limit', message }),
      }),
    )
    if (proved.tree.why !== undefined) await voice.note('tree_not_hashed', proved.tree.why)
    // A clone is where the work stays; a copy is brought back to where it came from.
    const { mode, source, path } = site.workspace
    return { ...said, ...judged(verdict, proved, mode === 'clone' ? source : path) }
  } catch (error) {
    // Stopped: why, is known to whoever stopped it.
    if (voice.watch.reason) return said
    voice.log.error('the checks of a task could not be run', { error: messageOf(error) })
    const message = `The checks could not be run: ${messageOf(error)}`
    const category = error instanceof RunFailure ? error.category : 'internal'
    return { ...said, verdict: { ...verdict, outcome: 'failed', category, message } }
  }
}

export const endedWell = ({ outcome }: Verdict) => outcome === 'succeeded' || outcome === 'partial' || outcome === 'empty'

/** There is nothing to look at yet: it said and did nothing, and is asked once more. */
export const repeats = ({ task }: TakenRun, { verdict, didNothing }: TurnResult): boolean =>
  isToRepeat(
    { outcome: verdict.outcome, didNothing },
    {
      task: { once: task.spec.once === true || task.spec.replay !== undefined },
      attempts: task.attempts,
      policy: task.agent_config.retry,
    },
  )

function asTheAgentSays(verdict: Verdict): Verdict {
  const lower = endedWell(verdict) ? loweredBy(readHeader(verdict.text)) : undefined
  if (!lower) return verdict
  const { outcome, message } = lower
  return { ...verdict, outcome, message, ...(outcome === 'failed' ? { category: 'reported_failure' as const } : {}) }
}

function judged(
  verdict: Verdict,
  proved: ChecksResult & { settled: Settled },
  folder: string,
): Pick<Examined, 'verdict' | 'checks' | 'settled'> {
  const { passed, failed, ran, settled } = proved
  const checks = { passed, failed, ran, folder }
  if (failed.length === 0) return { verdict, checks, settled }
  const message = failureOf(ran)
  return { verdict: { ...verdict, outcome: 'failed', category: 'checks_failed', message }, checks, settled }
}

function failureOf(ran: ChecksResult['ran']): string {
  const named = ran
    .filter(({ exitCode, why }) => exitCode !== 0 || why !== null)
    .map(({ name, exitCode, why }) => `"${name}" (${why ?? `exit code ${exitCode}`})`)
  return named.length === 1
    ? `The check ${named[0]} did not pass.`
    : `${named.length} of ${ran.length} checks did not pass: ${named.join(', ')}.`
}
