import type { Clock } from '../../base/clock.ts'
import type { ExactCall } from '../../domain/question/question.ts'
import { useGrant } from '../../store/grants.ts'
import type { TakenRun } from '../../store/runs.ts'
import type { Journal } from '../journal/journal.ts'

/** What people have decided about the calls of a task. */
export interface Grants {
  /** The decision about this very call, if there is one. What was allowed once is used up when this resolves, before anything is done with it. */
  use(call: ExactCall): Promise<{ readonly allow: boolean; readonly said?: string | undefined } | undefined>
}

export function grantsOf({ run, task }: TakenRun, { journal, clock }: { journal: Journal; clock: Clock }): Grants {
  const by = { task: task.id, session: run.session_id, run: run.id, fence: run.fence }
  return {
    async use(call) {
      const grant = await journal.transact('grant.use', (tx) => useGrant(tx, call, { ...by, at: new Date(clock.now()) }))
      return grant && { allow: grant.verdict === 'allow', said: grant.said ?? undefined }
    },
  }
}
