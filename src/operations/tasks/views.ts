import type { Suspect } from '../../domain/task/suspect.ts'
import { shortfallOf } from '../../domain/task/task.ts'
import type { QuestionView, RunView, SessionSummary, TaskSettings, TaskSummary, TaskView } from '../../domain/view/view.ts'
import { currentAction } from '../../engine/checks/current-action.ts'
import { proofOf } from '../../engine/checks/proof.ts'
import { questionDigest } from '../../engine/questions/digest.ts'
import type { LastAction } from '../../store/actions.ts'
import type { SessionFigures } from '../../store/sessions.ts'
import type { QuestionRow, RunRow, TaskRow } from '../../store/tables.ts'
import type { Dependency } from '../../store/task-relations.ts'

/** Rows as every surface shows them. */
type Shown = TaskRow & { current?: LastAction | null; isInterrupted?: boolean | undefined }

const time = (at: Date | null) => at?.toISOString() ?? null

export function taskSummary(row: Shown): TaskSummary {
  const shortfall = shortfallOf(row)
  return {
    id: row.id,
    name: row.name,
    state: row.state,
    reason: row.reason,
    ...(shortfall === undefined ? {} : { shortfall }),
    ...(row.isInterrupted ? { interrupted: true } : {}),
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
    proof: proofOf(row),
    current: row.state === 'running' && row.current ? currentAction(row.current) : null,
  }
}

export const taskView = (
  row: Shown,
  runs: readonly RunRow[],
  questions: readonly QuestionRow[],
  dependsOn: readonly Dependency[] = [],
  subtasks: TaskView['subtasks'] = [],
  cost: TaskView['cost'] = { usd: null, totalUsd: null, known: 'reported' },
  artifacts = 0,
  activity: TaskView['activity'] = null,
): TaskView => ({
  ...taskSummary(row),
  runs: runs.map(runView),
  questions: questions.map(questionView),
  dependsOn: [...dependsOn],
  subtasks,
  settings: taskSettings(row),
  cost,
  artifacts,
  activity,
  ...(row.suspect ? { suspect: { ...pick(row.suspect), lostAlone: row.suspect.lostAlone.length } } : {}),
})

const pick = ({ since, host, lastedMs, deaths }: Suspect) => ({ since, host, lastedMs, deaths })

function taskSettings({ agent_config: agent, spec, extra_args, output_schema }: TaskRow): TaskSettings {
  const { failover, ...said } = spec
  return {
    model: agent.model ?? null,
    profile: agent.profile,
    budget: agent.budget,
    timeoutMs: agent.timeoutMs,
    retry: agent.retry,
    extraArgs: extra_args,
    ...said,
    ...(failover ? { failover: failover.map(({ name }) => name) } : {}),
    ...(output_schema ? { outputSchema: output_schema } : {}),
  }
}

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
    lastTask:
      row.last_task === null || row.last_state === null
        ? null
        : { id: row.last_task, state: row.last_state, ...(row.last_shortfall === null ? {} : { shortfall: row.last_shortfall }) },
    archivedBytes: row.archived_bytes,
    createdAt: row.created_at.toISOString(),
    updatedAt: row.last_change.toISOString(),
    title: row.title,
    openQuestions: row.open_questions,
    costUsd: row.cost_usd,
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
    answeredBy: row.answered_by,
    multiSelect: row.multi_select,
    digest: questionDigest(row),
    mayAnswer: row.may_answer,
    deadline: row.state === 'pending' ? time(row.deadline) : null,
    afterDeadline: row.after_deadline,
    escalatedTo: row.escalated_to,
    ...(row.call ? { call: { tool: row.call.tool, ...(row.call.input === undefined ? {} : { input: row.call.input }) } } : {}),
  }
}
