import type { RecordingSummary, RecordingView } from '../domain/view/recording.ts'
import type { RecordedCall, Recording } from '../gateway/recordings/read.ts'
import type { RecordingRow } from '../store/recordings.ts'

export function recordingSummary(row: RecordingRow): RecordingSummary {
  const isOpen = !row.is_over && row.run_ended_at === null
  return {
    run: row.run_id,
    task: row.task_id,
    agent: row.agent,
    state: isOpen ? 'open' : row.is_over && row.stopped === null ? 'whole' : 'cut',
    calls: row.calls,
    bytes: row.bytes,
    canReplay: !isOpen && row.has_workspace && row.calls > 0,
    stopped: row.stopped,
    begunAt: row.begun_at.toISOString(),
    endedAt: row.ended_at?.toISOString() ?? null,
  }
}

export function recordingView(row: RecordingRow, { head, workspace, calls }: Recording): RecordingView {
  return {
    ...recordingSummary(row),
    model: head.model ?? null,
    workspace: workspace && workspace.leftOut === undefined ? { files: workspace.files, bytes: workspace.bytes } : null,
    items: calls.map(itemOf),
  }
}

function itemOf({ number, atMs, method, path, body, answer }: RecordedCall): RecordingView['items'][number] {
  const fields = 'text' in body ? {} : body.fields
  const pieces = 'text' in body ? {} : body.pieces
  const said = pieces.messages ?? pieces.input ?? pieces.contents
  return {
    number,
    atMs,
    method,
    path,
    model: typeof fields.model === 'string' ? fields.model : (/\/models\/([^/:?]+)/.exec(path)?.[1] ?? null),
    messages: Array.isArray(said) ? said.length : null,
    status: answer?.status ?? null,
    durationMs: answer?.frames.at(-1)?.[0] ?? null,
    whole: answer?.whole ?? false,
  }
}
