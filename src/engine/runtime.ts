import type { AgentView, HealthView } from '../domain/view.ts'
import { findHalt } from '../store/halt.ts'
import { countOutbox } from '../store/outbox.ts'
import * as tasks from '../store/tasks.ts'
import { type CheckVerbParts, type CheckVerbs, checkVerbs } from './checks/verbs.ts'
import { type HaltVerbs, haltVerbs, haltView } from './entrance/halt-verbs.ts'
import { type FeedVerbs, feedVerbs } from './feed.ts'
import { guarded } from './guarded.ts'
import { type LimitVerbs, limitVerbs } from './limits/verbs.ts'
import { type ModelFigureVerbs, modelFigureVerbs } from './models/figures.ts'
import { type ModelVerbParts, type ModelVerbs, modelVerbs } from './models/verbs.ts'
import { type MoneyVerbParts, type MoneyVerbs, moneyVerbs } from './money/verbs.ts'
import { type NotificationVerbParts, type NotificationVerbs, notificationVerbs } from './outbox/verbs.ts'
import { type QuestionVerbParts, type QuestionVerbs, questionVerbs } from './questions/verbs.ts'
import { type RecordingVerbs, recordingVerbs } from './recordings/verbs.ts'
import { type ReviewVerbs, reviewVerbs } from './review/verbs.ts'
import { type ProfileVerbParts, type ProfileVerbs, profileVerbs } from './rights/verbs.ts'
import { schedulesHealth } from './schedules/health.ts'
import type { RefusedSchedules } from './schedules/refused.ts'
import { type ScheduleVerbs, scheduleVerbs } from './schedules/verbs.ts'
import { type SessionVerbParts, type SessionVerbs, sessionVerbs } from './session-verbs.ts'
import { type SkillVerbs, skillVerbs } from './skills/verbs.ts'
import { type TaskVerbParts, type TaskVerbs, taskVerbs } from './task-verbs.ts'
import { type WorkspaceVerbs, workspaceVerbs } from './workspace/verbs.ts'

export type { Caller } from './entrance/audit.ts'
export type { FeedFilter } from './feed.ts'
export type { TaskFilter } from './task-verbs.ts'

/** The verbs every surface calls. They decide; surfaces only translate. Each refuses with a `PawlError`. */
export interface Runtime
  extends TaskVerbs,
    FeedVerbs,
    ReviewVerbs,
    CheckVerbs,
    QuestionVerbs,
    SessionVerbs,
    HaltVerbs,
    LimitVerbs,
    ModelFigureVerbs,
    ModelVerbs,
    MoneyVerbs,
    ProfileVerbs,
    ScheduleVerbs,
    SkillVerbs,
    WorkspaceVerbs,
    RecordingVerbs,
    NotificationVerbs {
  listAgents(): Promise<AgentView[]>
  /** One of them, asked alone. */
  getAgent(name: string): Promise<AgentView>
  health(): Promise<HealthView>
  /** Resolves if work can be taken; rejects with `unavailable` and the reason if not. */
  ready(): Promise<void>
}

export interface RuntimeParts
  extends TaskVerbParts,
    QuestionVerbParts,
    SessionVerbParts,
    ProfileVerbParts,
    ModelVerbParts,
    MoneyVerbParts,
    CheckVerbParts,
    NotificationVerbParts {
  readonly describeAgents: () => Promise<AgentView[]>
  readonly describeAgent: (name: string) => Promise<AgentView>
  readonly refusedSchedules?: Pick<RefusedSchedules, 'list'> | undefined
  readonly describeSelf: () => Promise<Omit<HealthView, 'tasks' | 'halt' | 'schedules' | 'notifications'>>
}

export function createRuntime(parts: RuntimeParts): Runtime {
  const { db } = parts
  const ofTasks = taskVerbs(parts)
  return {
    ...ofTasks,
    ...feedVerbs(parts),
    ...checkVerbs(parts),
    ...reviewVerbs(parts, ofTasks.getTask),
    ...questionVerbs(parts),
    ...sessionVerbs(parts, ofTasks.cancelTask),
    ...limitVerbs(parts, ofTasks.getTask),
    ...modelVerbs(parts),
    ...modelFigureVerbs(parts),
    ...moneyVerbs(parts),
    ...profileVerbs(parts),
    ...scheduleVerbs(parts, ofTasks),
    ...skillVerbs(parts),
    ...workspaceVerbs(parts),
    ...recordingVerbs(parts, ofTasks),
    ...notificationVerbs(parts),
    ...haltVerbs(parts, ofTasks.cancelTask),

    listAgents: parts.describeAgents,
    getAgent: parts.describeAgent,
    async health() {
      const [self, counts, halt, schedules, notifications] = await guarded(() =>
        Promise.all([
          parts.describeSelf(),
          tasks.countByState(db),
          findHalt(db),
          schedulesHealth(db, parts.refusedSchedules?.list()),
          countOutbox(db),
        ]),
      )
      return { ...self, tasks: counts, halt: halt ? haltView(halt) : null, schedules, notifications }
    },
    async ready() {
      await guarded(() => tasks.countByState(db))
      await parts.assertRoom()
    },
  }
}
