import type { Generated } from 'kysely'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import type { Role, Standing } from '../domain/auth/role.ts'
import type { TokenKind } from '../domain/auth/token.ts'
import type { TraceContext } from '../domain/base/trace-context.ts'
import type { CostKnowledge } from '../domain/money/cost.ts'
import type { Usage } from '../domain/money/usage.ts'
import type { Notifiable, Notification, NotificationState } from '../domain/notification/notification.ts'
import type { AfterDeadline } from '../domain/question/policy.ts'
import type { ExactCall } from '../domain/question/question.ts'
import type { NewSchedule, ScheduleState, TaskTemplate, TickState, When } from '../domain/schedule/schedule.ts'
import type { TaskSpec } from '../domain/task/spec.ts'
import type { Suspect } from '../domain/task/suspect.ts'
import type { Reason, TaskState, WorkspaceHow } from '../domain/task/task.ts'
import type { SessionChoices } from '../domain/view/view.ts'
import type { KillUnit } from '../sandbox/process/child.ts'
import type { ChangesRow } from './changes.ts'
import type { CheckRow } from './checks.ts'

/** The rows as they lie in the database (migrations/ is their source). */
export interface Tables {
  'pawl.sessions': SessionRow
  'pawl.tasks': TaskRow
  'pawl.task_dependencies': { task_id: string; depends_on_id: string }
  'pawl.removed_runs': { run_id: string }
  'pawl.idempotency_keys': { key: string; body_hash: string; task_id: string; created_at: Date }
  'pawl.workers': WorkerRow
  'pawl.runs': RunRow
  'pawl.leases': LeaseRow
  'pawl.questions': QuestionRow
  'pawl.ledger': LedgerRow
  'pawl.reservations': ReservationRow
  'pawl.grants': GrantRow
  'pawl.session_files': SessionFileRow
  'pawl.users': UserRow
  'pawl.outbox': OutboxRow
  'pawl.push_subscriptions': PushRow
  'pawl.task_listeners': ListenerRow
  'pawl.tokens': TokenRow
  'pawl.cooldowns': CooldownRow
  'pawl.checks': CheckRow
  'pawl.run_changes': ChangesRow
  'pawl.schedules': ScheduleRow
  'pawl.schedule_ticks': TickRow
  'pawl.session_chunks': { file_id: number; start: number; length: number; bytes: Buffer }
}

export interface SessionRow {
  id: string
  agent: string
  adapter: string
  workspace: string
  vendor_id: string | null
  /** The program knows nothing of what the journal holds, and is to be told it with the next message. */
  retell: boolean
  /** Where an adopted conversation came from, until its first run has said so. */
  adopted_from: string | null
  /** A task of it was given files: only then is anything asked about them. */
  has_attachments: boolean
  /** For its next tasks; see `SessionChoices`. */
  choices: SessionChoices | null
  created_at: Date
  updated_at: Date
}

/** A file of a conversation as far as it is archived. */
export interface SessionFileRow {
  id: Generated<number>
  session_id: string
  vendor_id: string
  /** Relative to the session home. */
  path: string
  /** The file of the conversation itself, not one that lies beside it. */
  is_main: boolean
  size: number
  /** Of the last bytes that are stored: tells whether a file still begins with what is stored. */
  tail_digest: Buffer
  /** False if the file outgrew the archive: what is stored is an older state. */
  is_whole: boolean
  archived_at: Date
}

/** What the next run says instead of the task's prompt. */
export type Continuation =
  | { kind: 'answer'; answers: Answered[] }
  | ({ kind: 'retry'; fresh: boolean } & Begun)
  | ({ kind: 'checks'; failed: { name: string; exitCode: number | null; output: string }[] } & Begun)
  /** `results` of subtasks that no run has heard of yet. */
  | ({ kind: 'rejected'; comment: string; results?: SubtaskResult[] } & Begun)
  | { kind: 'subtasks'; results: SubtaskResult[] }

/** Somebody has looked at the task after the run with this fence and wants it to go on: what is counted of its runs is counted anew. */
interface Begun {
  after?: number
}

/** What became of a subtask, for the agent that made it. */
export interface SubtaskResult {
  task: string
  name: string | null
  state: string
  text: string
}

/** `heard` by an earlier run already: said again only to a program that remembers nothing. */
export interface Answered {
  questionId: string
  question: string
  answer: string
  heard: boolean
}

export interface TaskResult {
  outcome: string
  text: string
  verified: boolean
  costUsd: number | null
  /** How the cost is known; `reported` if left out. */
  costKnown?: CostKnowledge | undefined
  usage: Usage | null
  /** What was done, in a few sentences; made of the text. */
  summary?: string | undefined
}

export interface TaskRow {
  id: string
  state: TaskState
  reason: Reason | null
  resume_at: Date | null
  agent: string
  agent_config: ResolvedAgent
  /** Whose usage limit the agent's runs count against; tasks of one account cool down together. */
  account: string
  name: string | null
  prompt: string
  spec: TaskSpec
  continuation: Continuation | null
  workspace: string
  workspace_own: boolean
  workspace_how: WorkspaceHow | null
  session_id: string
  parent_id: string | null
  /** The topmost task of its tree: itself, unless it is a subtask. */
  root_id: string
  /** How many parents it has above it. */
  depth: number
  /** Set with its first subtask and kept: only then is anything asked about them. */
  has_subtasks: boolean
  /** The ends of subtasks that a run of it was told, or is about to be. Not in the subtasks' rows: whoever has this one locked must not wait for those. */
  told_subtasks: string[]
  /** Others wait, or once waited, for it to be completed. */
  has_dependents: boolean
  schedule_id: string | null
  priority: number
  rank: number
  tags: string[]
  extra_args: string[]
  output_schema: Record<string, unknown> | null
  attended: boolean
  /** Who asked for it. */
  user_name: string
  bound_to: string | null
  fence: number
  attempts: number
  result: TaskResult | null
  cancel: 'grace' | 'now' | null
  cancel_by: string | null
  /** Its program ran when its worker died; null for all others. */
  suspect: Suspect | null
  created_at: Date
  updated_at: Date
  ended_at: Date | null
}

/** An account that is at a limit of its provider. It stands until a run of the account has shown that the limit is over. */
export interface CooldownRow {
  account: string
  kind: 'usage_limit' | 'rate_limited' | 'overloaded'
  until: Date
  /** How often in a row it was met. */
  step: number
  why: string
  /** Whose run met it last. */
  agent: string
  /** The run that was let through to see whether it is over. */
  probe: string | null
  since: Date
  updated_at: Date
}

export interface WorkerRow {
  id: string
  host: string
  boot_id: string
  pid: number
  start_time: string
  beat: number
  /** By its own clock when it beat last; null if it has never beaten since this is written. */
  seen_at: Date | null
  /** It was declared dead, and did not leave by itself. */
  died: boolean
  started_at: Date
  ended_at: Date | null
}

export interface RunRow {
  id: string
  task_id: string
  session_id: string
  fence: number
  attempt: number
  state: 'admitted' | 'running' | 'ended'
  agent: string
  admitted_by: string | null
  worker_id: string | null
  kill_unit: KillUnit | null
  walls: string | null
  enforced: boolean | null
  /** The name of the profile that is in force; null before the agent is started. */
  profile: string | null
  profile_digest: string | null
  limits_held: Readonly<Record<string, string>> | null
  resumed: boolean
  outcome: string | null
  category: string | null
  message: string | null
  text: string | null
  exit_code: number | null
  signal: string | null
  usage: Usage | null
  cost_usd: number | null
  /** What this run came to, as a digest: runs that end the same way have the same. */
  fingerprint: string | null
  /** Whether it changed its workspace; null if it has not ended, was lost, or ended before that was kept. */
  changes: 'nothing' | 'files' | 'unknown' | null
  /** Of a suspect's run: for how long nothing may start beside it. */
  alone_ms: number | null
  /** Of a suspect's run: nothing has started beside it so far. */
  alone: boolean
  admitted_at: Date
  started_at: Date | null
  ended_at: Date | null
}

export interface LeaseRow {
  run_id: string
  task_id: string
  fence: number
  worker_id: string
}

/** What one call of a model used, or what completes a run. */
export interface LedgerRow {
  id: Generated<number>
  run_id: string
  number: number
  task_id: string
  root_id: string
  agent: string
  account: string
  user_name: string
  model: string | null
  at: Date
  input_tokens: number
  output_tokens: number
  cache_read_tokens: number
  cache_write_tokens: number
  turns: number
  cost_usd: number | null
  /** What caps count. */
  counted_usd: number
  known: CostKnowledge
  /** Who served the model, where the gateway knows it. */
  provider: string | null
}

export interface ReservationRow {
  run_id: string
  task_id: string
  root_id: string
  agent: string
  account: string
  user_name: string
  model: string | null
  provider: string | null
  fence: number
  /** Counts against caps like what is spent. */
  usd: number
  /** Of it, what is for calls under way or not booked yet. */
  open_usd: number
  at: Date
}

export interface QuestionRow {
  id: string
  task_id: string
  run_id: string
  kind: string
  text: string
  options: string[]
  state: 'pending' | 'answered' | 'expired' | 'cancelled'
  answer: string | null
  answered_by: string | null
  heard: boolean
  asked_at: Date
  answered_at: Date | null
  multi_select: boolean
  /** Users, and roles written as `role:NAME`; everybody who may operate if null. */
  may_answer: string[] | null
  deadline: Date | null
  after_deadline: AfterDeadline | null
  /** The task of another agent that is to answer it. */
  escalated_to: string | null
  /** The fence of the run that waited for the answer when it came, or waits now. */
  held_by: number | null
  /** Of a permission that was asked for by Pawl itself: what exactly it is about. */
  call: ExactCall | null
}

/** What was decided about one exact call of one task. */
export interface GrantRow {
  question_id: string
  task_id: string
  session_id: string
  tool: string
  input_digest: string
  verdict: 'allow' | 'deny'
  said: string | null
  is_once: boolean
  created_at: Date
  expires_at: Date | null
  used_at: Date | null
  used_by_run: string | null
}

/** Something that somebody outside is to be told. */
export interface OutboxRow {
  id: string
  /** The order in which one target hears of one task. */
  no: number
  target: string
  kind: Notification['way']['kind']
  task_id: string
  run_id: string | null
  event: Notifiable
  body: OutboxBody
  state: NotificationState
  attempts: number
  next_at: Date
  claimed_by: string | null
  last_error: string | null
  created_at: Date
  sent_at: Date | null
}

/** An address that a client wants told of one task. */
export interface ListenerRow {
  id: string
  task_id: string
  user_name: string
  /** What the client calls it. */
  name: string
  url: string
  /** The version of the protocol in whose words it is told. */
  wire: string
  /** What it wants to be shown. */
  sealed: Buffer
  sender_key: string
  standing: Standing
  token_id: string | null
  created_at: Date
}

/** A browser that wants to be told. */
export interface PushRow {
  id: string
  user_name: string
  token_id: string | null
  endpoint: string
  p256dh: string
  auth: string
  sender_key: string
  events: Notifiable[]
  label: string
  created_at: Date
}

/** What is told, as it was when the event was stored. */
export interface OutboxBody {
  data: Record<string, unknown>
  /** Whose trace it belongs to; left out of what was written before there were such. */
  traced?: { root: string; trace: TraceContext | null } | undefined
  /** The one that the event is about. */
  question: { id: string; text: string; options: string[] } | null
  task: {
    id: string
    name: string | null
    state: TaskState
    agent: string
    tags: string[]
    workspace: string
    session: string
    parent: string | null
    /** Its beginning. */
    prompt: string
    result: { outcome: string; text: string; verified: boolean; costUsd: number | null } | null
  }
}

export interface UserRow {
  name: string
  role: Role
  is_disabled: boolean
  slots: number | null
  daily_tasks: number | null
  created_at: Date
}

/** Whatever lets somebody in. */
export interface TokenRow {
  id: string
  /** SHA-256 of its text, which is stored nowhere. */
  hash: Buffer
  user_name: string
  kind: TokenKind
  role: Role | null
  name: string | null
  /** Of an agent: the task it may read, and the run with which it dies. */
  task_id: string | null
  run_id: string | null
  /** Of a signed-in browser and its code: the token that asked for it, and with which it ends. */
  asked_by: string | null
  created_at: Date
  created_by: string
  expires_at: Date | null
  last_used_at: Date | null
  revoked_at: Date | null
}

/** Tasks that come again. */
export interface ScheduleRow {
  id: string
  name: string | null
  state: ScheduleState
  timing: When
  /** Intervals are counted from here; times of rest and initial prompts begin here. */
  since: Date
  task: TaskTemplate
  session_mode: NewSchedule['session']
  /** The conversation that its ticks go on with, once there is one. */
  session_id: string | null
  overlap: NewSchedule['overlap']
  catch_up: NewSchedule['catchUp']
  jitter_ms: number
  /** When it is due next, and when that is acted upon. */
  next_due_at: Date | null
  next_at: Date | null
  last_due_at: Date | null
  user_name: string
  /** What its user stood for when they wrote it; the owner of the home if null. */
  standing: Standing | null
  /** The settings that it comes from. */
  source: string | null
  created_at: Date
  updated_at: Date
}

/** One time that a schedule was due. */
export interface TickRow {
  schedule_id: string
  due_at: Date
  state: TickState
  detail: string | null
  is_manual: boolean
  /** The task to be made, until it is. */
  request: TaskTemplate | null
  /** When making it was first put off because nothing could be taken. */
  refused_at: Date | null
  task_id: string | null
  fired_at: Date
  ended_at: Date | null
}
