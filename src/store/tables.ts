import type { Generated } from 'kysely'
import type { ResolvedAgent } from '../domain/agent-config.ts'
import type { Role } from '../domain/role.ts'
import type { Reason, TaskState, WorkspaceHow } from '../domain/task.ts'
import type { TaskSpec } from '../domain/task-spec.ts'
import type { TokenKind } from '../domain/token.ts'
import type { Usage } from '../domain/usage.ts'
import type { KillUnit } from '../process/child.ts'

/** The rows as they lie in the database (migrations/ is their source). */
export interface Tables {
  'pawl.sessions': SessionRow
  'pawl.tasks': TaskRow
  'pawl.task_dependencies': { task_id: string; depends_on_id: string }
  'pawl.idempotency_keys': { key: string; body_hash: string; task_id: string; created_at: Date }
  'pawl.workers': WorkerRow
  'pawl.runs': RunRow
  'pawl.leases': LeaseRow
  'pawl.questions': QuestionRow
  'pawl.session_files': SessionFileRow
  'pawl.users': UserRow
  'pawl.tokens': TokenRow
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
  | { kind: 'retry'; fresh: boolean }
  | { kind: 'checks'; failed: { name: string; exitCode: number | null; output: string }[] }
  | { kind: 'rejected'; comment: string }
  | { kind: 'subtasks'; results: { task: string; name: string | null; state: string; text: string }[] }

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
  created_at: Date
  updated_at: Date
  ended_at: Date | null
}

export interface WorkerRow {
  id: string
  host: string
  boot_id: string
  pid: number
  start_time: string
  beat: number
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
