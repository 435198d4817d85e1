import type { AgentView, HealthView } from '../domain/view/view.ts'
import { lazy } from '../engine/base/lazy.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import type { RefusedSchedules } from '../engine/schedules/refused.ts'
import type { Findings } from '../engine/upkeep/findings.ts'
import { lookForTrouble } from '../engine/upkeep/health.ts'
import { findHalt } from '../store/halt.ts'
import { countOutbox } from '../store/outbox.ts'
import { countByState } from '../store/task-counts.ts'
import type { BackupVerbParts, BackupVerbs } from './backups.ts'
import { type BulkVerbs, bulkVerbs } from './bulk.ts'
import { type ChangeVerbs, changeVerbs } from './changes.ts'
import { type CheckVerbParts, type CheckVerbs, checkVerbs } from './checks.ts'
import { type DoctorVerbParts, type DoctorVerbs, doctorVerbs } from './doctor.ts'
import type { DraftVerbParts, DraftVerbs } from './drafts.ts'
import type { ElaborateVerbParts, ElaborateVerbs } from './elaborate.ts'
import { type FeedVerbs, feedVerbs } from './feed.ts'
import { type FileVerbParts, type FileVerbs, fileVerbs } from './files.ts'
import { type HaltVerbs, haltVerbs, haltView } from './halt.ts'
import { type LimitVerbs, limitVerbs } from './limits.ts'
import { type McpServerVerbParts, type McpServerVerbs, mcpServerVerbs } from './mcp-servers.ts'
import { type ModelFigureVerbs, modelFigureVerbs } from './model-metrics.ts'
import { type ModelVerbParts, type ModelVerbs, modelVerbs } from './models.ts'
import { type MoneyVerbParts, type MoneyVerbs, moneyVerbs } from './money.ts'
import { type NotificationVerbParts, type NotificationVerbs, notificationVerbs } from './notifications.ts'
import { type ProfileVerbParts, type ProfileVerbs, profileVerbs } from './profiles.ts'
import { type PushVerbParts, type PushVerbs, pushVerbs } from './push.ts'
import { type QuestionVerbParts, type QuestionVerbs, questionVerbs } from './questions.ts'
import type { RecordingVerbs } from './recordings.ts'
import { type ReviewVerbs, reviewVerbs } from './review.ts'
import { type RunLogParts, type RunLogVerbs, runLogVerbs } from './run-log.ts'
import { schedulesHealth } from './schedule-health.ts'
import { type ScheduleVerbs, scheduleVerbs } from './schedules.ts'
import { type SessionVerbParts, type SessionVerbs, sessionVerbs } from './sessions.ts'
import { type SettingsVerbParts, type SettingsVerbs, settingsVerbs } from './settings.ts'
import { type SkillVerbs, skillVerbs } from './skills.ts'
import { type OwnTaskVerbs, type TaskVerbParts, type TaskVerbs, taskVerbs } from './tasks/tasks.ts'
import { type TransferVerbs, transferVerbs } from './transfer.ts'
import { type WorkspaceVerbs, workspaceVerbs } from './workspaces.ts'

export type { Caller } from '../engine/auth/audit.ts'
export type { FeedFilter } from './feed.ts'
export type { TaskFilter, TaskNarrowing } from './tasks/list-tasks.ts'

/** The verbs every surface calls. They decide; surfaces only translate. Each refuses with a `PawlError`. */
export interface Runtime
  extends TaskVerbs,
    BulkVerbs,
    FileVerbs,
    FeedVerbs,
    ReviewVerbs,
    CheckVerbs,
    ChangeVerbs,
    RunLogVerbs,
    DraftVerbs,
    ElaborateVerbs,
    PushVerbs,
    QuestionVerbs,
    SessionVerbs,
    HaltVerbs,
    LimitVerbs,
    McpServerVerbs,
    ModelFigureVerbs,
    ModelVerbs,
    MoneyVerbs,
    ProfileVerbs,
    ScheduleVerbs,
    SkillVerbs,
    WorkspaceVerbs,
    RecordingVerbs,
    SettingsVerbs,
    DoctorVerbs,
    BackupVerbs,
    TransferVerbs,
    NotificationVerbs {
  listAgents(): Promise<AgentView[]>
  /** One of them, asked alone. */
  getAgent(name: string): Promise<AgentView>
  health(): Promise<HealthView>
  /** Resolves if work can be taken; rejects with `unavailable` and the reason if not. */
  ready(): Promise<void>
}

/** What the daemon knows of itself without the database. */
export type SelfView = Omit<HealthView, 'tasks' | 'halt' | 'schedules' | 'notifications' | 'agents' | 'stuck'>

export interface RuntimeParts
  extends TaskVerbParts,
    FileVerbParts,
    QuestionVerbParts,
    SessionVerbParts,
    ProfileVerbParts,
    McpServerVerbParts,
    ModelVerbParts,
    MoneyVerbParts,
    CheckVerbParts,
    SettingsVerbParts,
    DoctorVerbParts,
    RunLogParts,
    BackupVerbParts,
    DraftVerbParts,
    ElaborateVerbParts,
    PushVerbParts,
    NotificationVerbParts {
  readonly describeAgents: () => Promise<AgentView[]>
  readonly describeAgent: (name: string) => Promise<AgentView>
  readonly refusedSchedules?: Pick<RefusedSchedules, 'list'> | undefined
  /** What asking the programs of agents has shown. */
  readonly findings?: Pick<Findings, 'of'> | undefined
  readonly describeSelf: () => Promise<SelfView>
}

export function createRuntime(parts: RuntimeParts): Runtime {
  const { db } = parts
  const ofTasks = taskVerbs(parts)
  return {
    ...ofTasks,
    ...bulkVerbs(ofTasks),
    ...feedVerbs(parts),
    ...fileVerbs(parts),
    ...checkVerbs(parts),
    ...changeVerbs(parts),
    ...runLogVerbs(parts),
    ...pushVerbs(parts),
    ...reviewVerbs(parts, ofTasks.getTask),
    ...questionVerbs(parts),
    ...sessionVerbs(parts, ofTasks.cancelTask),
    ...limitVerbs(parts, ofTasks.getTask),
    ...mcpServerVerbs(parts),
    ...modelVerbs(parts),
    ...modelFigureVerbs(parts),
    ...moneyVerbs(parts),
    ...profileVerbs(parts),
    ...scheduleVerbs(parts, ofTasks),
    ...skillVerbs(parts),
    ...workspaceVerbs(parts),
    ...notificationVerbs(parts),
    ...settingsVerbs(parts),
    ...doctorVerbs(parts),
    ...transferVerbs(parts),
    ...haltVerbs(parts, ofTasks.cancelTask),
    ...seldomVerbs(parts, ofTasks),

    listAgents: parts.describeAgents,
    getAgent: parts.describeAgent,
    async health() {
      const now = new Date(parts.clock.now())
      const [self, counts, halt, schedules, notifications, trouble] = await translateDbErrors(() =>
        Promise.all([
          parts.describeSelf(),
          countByState(db),
          findHalt(db),
          schedulesHealth(db, now, parts.refusedSchedules?.list()),
          countOutbox(db),
          lookForTrouble(db, { now, findings: parts.findings }),
        ]),
      )
      return { ...self, tasks: counts, halt: halt ? haltView(halt) : null, schedules, notifications, ...trouble }
    },
    async ready() {
      await translateDbErrors(() => countByState(db))
      await parts.assertRoom()
    },
  }
}

function seldomVerbs(parts: RuntimeParts, ofTasks: OwnTaskVerbs): DraftVerbs & ElaborateVerbs & RecordingVerbs & BackupVerbs {
  return {
    ...lazy<DraftVerbs>({ listTemplates: true, listFolders: true, readTasks: true, previewSchedule: true }, async () =>
      (await import('./drafts.ts')).draftVerbs(parts, ofTasks),
    ),
    ...lazy<ElaborateVerbs>({ elaborateTask: true, getProposal: true }, async () =>
      (await import('./elaborate.ts')).elaborateVerbs(parts, ofTasks),
    ),
    ...lazy<RecordingVerbs>(
      {
        listRecordings: true,
        getRecording: true,
        exportRecording: true,
        removeRecording: true,
        replayRun: true,
        forkRun: true,
        getReplay: true,
      },
      async () => (await import('./recordings.ts')).recordingVerbs(parts, ofTasks),
    ),
    ...lazy<BackupVerbs>({ createBackup: true, listBackups: true, backupUnderWay: true, findBackup: true }, async () =>
      (await import('./backups.ts')).backupVerbs(parts),
    ),
  }
}
