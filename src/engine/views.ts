import type { QuestionView, RunView, SessionSummary, TaskSummary, TaskView } from '../domain/view.ts'
import type { SessionFigures } from '../store/sessions.ts'
import type { QuestionRow, RunRow, TaskRow } from '../store/tables.ts'

/** Rows as every surface shows them. */
const time = (at: Date | null) => at?.toISOString() ?? null

export function taskSummary(row: TaskRow): TaskSummary {
  return {
    id: row.id,
    state: row.state,
    reason: row.reason,
    resumeAt: time(row.resume_at),
    agent: row.agent,
    session: row.session_id,
    parent: row.parent_id,
    priority: row.priority,
    tags: row.tags,
    workspace: row.workspace,
    prompt: row.prompt,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.updated_at.toISOString(),
    endedAt: time(row.ended_at),
    result: row.result as TaskSummary['result'],
  }
}

export const taskView = (row: TaskRow, runs: readonly RunRow[], questions: readonly QuestionRow[]): TaskView => ({
  ...taskSummary(row),
  runs: runs.map(runView),
  questions: questions.map(questionView),
})

export function runView(row: RunRow): RunView {
  return {
    id: row.id,
    attempt: row.attempt,
    fence: row.fence,
    state: row.state,
    outcome: row.outcome as RunView['outcome'],
    category: row.category as RunView['category'],
    message: row.message,
    agent: row.agent,
    walls: row.walls,
    enforced: row.enforced,
    profile: row.profile,
    costUsd: row.cost_usd,
    usage: row.usage,
    startedAt: time(row.started_at),
    endedAt: time(row.ended_at),
  }
}

export function sessionSummary(row: SessionFigures): SessionSummary {
  return {
    id: row.id,
    agent: row.agent,
    adapter: row.adapter,
    workspace: row.workspace,
    vendorId: row.vendor_id,
    taskCount: row.task_count,
    lastTask: row.last_task === null || row.last_state === null ? null : { id: row.last_task, state: row.last_state },
    archivedBytes: row.archived_bytes,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.last_change.toISOString(),
  }
}

export function questionView(row: QuestionRow): QuestionView {
  return {
    id: row.id,
    task: row.task_id,
    kind: row.kind as QuestionView['kind'],
    text: row.text,
    options: row.options,
    state: row.state,
    answer: row.answer,
    askedAt: row.asked_at.toISOString(),
    answeredAt: time(row.answered_at),
  }
}
