import type { AgentView, HealthView } from '../domain/view.ts'
import { findHalt } from '../store/halt.ts'
import * as tasks from '../store/tasks.ts'
import { type HaltVerbs, haltVerbs, haltView } from './entrance/halt-verbs.ts'
import { guarded } from './guarded.ts'
import { type QuestionVerbs, questionVerbs } from './questions/verbs.ts'
import { type ProfileVerbParts, type ProfileVerbs, profileVerbs } from './rights/verbs.ts'
import { type SessionVerbParts, type SessionVerbs, sessionVerbs } from './session-verbs.ts'
import { type SkillVerbs, skillVerbs } from './skills/verbs.ts'
import { type TaskVerbParts, type TaskVerbs, taskVerbs } from './task-verbs.ts'
import { type WorkspaceVerbs, workspaceVerbs } from './workspace/verbs.ts'

export type { Caller } from './entrance/audit.ts'
export type { TaskFilter } from './task-verbs.ts'

/** The verbs every surface calls. They decide; surfaces only translate. Each refuses with a `PawlError`. */
export interface Runtime extends TaskVerbs, QuestionVerbs, SessionVerbs, HaltVerbs, ProfileVerbs, SkillVerbs, WorkspaceVerbs {
  listAgents(): Promise<AgentView[]>
  health(): Promise<HealthView>
  /** Resolves if work can be taken; rejects with `unavailable` and the reason if not. */
  ready(): Promise<void>
}

export interface RuntimeParts extends TaskVerbParts, SessionVerbParts, ProfileVerbParts {
  readonly describeAgents: () => Promise<AgentView[]>
  readonly describeSelf: () => Promise<Omit<HealthView, 'tasks' | 'halt'>>
}

export function createRuntime(parts: RuntimeParts): Runtime {
  const { db } = parts
  const ofTasks = taskVerbs(parts)
  return {
    ...ofTasks,
    ...questionVerbs(parts),
    ...sessionVerbs(parts, ofTasks.cancelTask),
    ...profileVerbs(parts),
    ...skillVerbs(parts),
    ...workspaceVerbs(parts),
    ...haltVerbs(parts, ofTasks.cancelTask),

    listAgents: parts.describeAgents,
    async health() {
      const [self, counts, halt] = await guarded(() => Promise.all([parts.describeSelf(), tasks.countByState(db), findHalt(db)]))
      return { ...self, tasks: counts, halt: halt ? haltView(halt) : null }
    },
    async ready() {
      await guarded(() => tasks.countByState(db))
      await parts.assertRoom()
    },
  }
}
