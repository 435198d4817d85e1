import type { Verdict } from '../../agents/port.ts'
import type { Log } from '../../base/log.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import type { NewEvent } from '../../domain/event/event.ts'
import type { Exit } from '../../sandbox/process/child.ts'
import type { RunChanged } from '../../store/changes.ts'
import type { Freed } from '../../store/events.ts'
import type { Booking } from '../../store/ledger.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { SpannedRun } from '../../telemetry/telemetry.ts'
import type { Watch } from './watch.ts'

/** What everything that takes part in a run shares: its timers, and its way to the journal and the log. */
export interface RunContext {
  readonly watch: Watch
  readonly log: Log
  /** With a line of the ledger and what becomes free of the run's reservation, if it says that something was used: all are stored, or none. */
  readonly recordEvent: (event: NewEvent, booking?: Booking, frees?: Freed) => Promise<void> | undefined
  readonly note: (code: string, detail: string) => Promise<void> | undefined
  /** Keeps secrets out of everything that is stored or logged, until the run is settled. */
  readonly hide: (secrets: readonly Secret[]) => void
  /** What the run changed, to be stored with its end, however that comes. */
  readonly keepChanges: (changed: RunChanged) => void
}

export interface TurnResult {
  readonly verdict: Verdict
  /** Undefined while the program lives on for the session's next turn. */
  readonly exit?: Exit | undefined
  /** It ended well without a word and without using a tool; never true of a program that does not tell of its tools. */
  readonly didNothing?: boolean | undefined
  /** What it came to, as a digest; see guardrails/fingerprint.ts. */
  readonly fingerprint?: string | undefined
}

export const isLost = (watch: Watch) => watch.reason?.kind === 'lease_lost'

/** Whose spans they are. */
export const spanned = ({ run, task }: TakenRun): SpannedRun & { readonly model: string | undefined } => ({
  run: run.id,
  task: task.id,
  root: task.root_id,
  session: run.session_id,
  agent: task.agent,
  model: task.agent_config.model,
  trace: task.spec.trace,
})
