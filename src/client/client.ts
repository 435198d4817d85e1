import { type A2ACalls, a2aCalls } from './calls/a2a.ts'
import { type AgentCalls, agentCalls } from './calls/agents.ts'
import { type BackupCalls, backupCalls } from './calls/backups.ts'
import { type DaemonCalls, daemonCalls } from './calls/daemon.ts'
import { type DraftCalls, draftCalls } from './calls/drafts.ts'
import { type EntranceCalls, entranceCalls } from './calls/entrance.ts'
import { type EventCalls, eventCalls } from './calls/events.ts'
import { type EvidenceCalls, evidenceCalls } from './calls/evidence.ts'
import { type FileCalls, fileCalls } from './calls/files.ts'
import { type McpServerCalls, mcpServerCalls } from './calls/mcp-servers.ts'
import { type ModelCalls, modelCalls } from './calls/models.ts'
import { type NotificationCalls, notificationCalls } from './calls/notifications.ts'
import { type QuestionCalls, questionCalls } from './calls/questions.ts'
import { type RecordingCalls, recordingCalls } from './calls/recordings.ts'
import { type ScheduleCalls, scheduleCalls } from './calls/schedules.ts'
import { type SessionCalls, sessionCalls } from './calls/sessions.ts'
import { type TaskCalls, taskCalls } from './calls/tasks.ts'
import { type WorkspaceCalls, workspaceCalls } from './calls/workspaces.ts'
import type { Transport } from './transport/transport.ts'
import { type ClientOptions, createWire } from './transport/wire.ts'

/** The verbs of a daemon, over HTTP. Each rejects with the `PawlError` the daemon refused with, or `unavailable` if none answers. */
export interface Client
  extends TaskCalls,
    A2ACalls,
    EvidenceCalls,
    FileCalls,
    SessionCalls,
    QuestionCalls,
    EventCalls,
    ScheduleCalls,
    DraftCalls,
    AgentCalls,
    McpServerCalls,
    ModelCalls,
    WorkspaceCalls,
    RecordingCalls,
    NotificationCalls,
    DaemonCalls,
    EntranceCalls,
    BackupCalls {
  /** Lets go of idle connections. */
  close(): void
}

export function createClientOver(transport: Transport, options: ClientOptions = {}): Client {
  const wire = createWire(transport, options)
  return {
    ...taskCalls(wire),
    ...a2aCalls(wire),
    ...evidenceCalls(wire),
    ...fileCalls(wire),
    ...sessionCalls(wire),
    ...questionCalls(wire),
    ...eventCalls(wire),
    ...scheduleCalls(wire),
    ...draftCalls(wire),
    ...agentCalls(wire),
    ...mcpServerCalls(wire),
    ...modelCalls(wire),
    ...workspaceCalls(wire),
    ...recordingCalls(wire),
    ...notificationCalls(wire),
    ...daemonCalls(wire),
    ...entranceCalls(wire),
    ...backupCalls(wire),
    close: () => transport.close(),
  }
}

export type { ListAudit } from './calls/entrance.ts'
export type { ListSessions } from './calls/sessions.ts'
export type { ListTasks, NarrowTasks } from './calls/tasks.ts'
export type { ClientOptions } from './transport/wire.ts'
