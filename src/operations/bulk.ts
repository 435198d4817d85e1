import { invalid, PawlError } from '../domain/error.ts'
import type { BulkResult, BulkWork } from '../domain/view/bulk.ts'
import type { Caller } from '../engine/auth/audit.ts'
import type { TaskVerbs } from './tasks/tasks.ts'

export interface BulkVerbs {
  /** The same to each of many tasks, one after the other, each whole or not at all; a refusal of one is told and keeps nothing from the others. */
  changeTasks(work: BulkWork, caller: Caller): Promise<BulkResult>
}

type Verbs = Pick<TaskVerbs, 'getTask' | 'cancelTask' | 'retryTask' | 'editTask' | 'removeTask'>

export function bulkVerbs(verbs: Verbs): BulkVerbs {
  return {
    async changeTasks(work, caller) {
      const { action, priority, addTags = [], removeTags = [] } = work
      if (action === 'edit' && priority === undefined && addTags.length === 0 && removeTags.length === 0)
        throw invalid('Nothing is to be changed; name a priority, addTags or removeTags.')
      const gone = new Set<string>()
      const act: Record<BulkWork['action'], (id: string) => Promise<unknown>> = {
        cancel: (id) => verbs.cancelTask(id, { ...caller, now: work.now ?? false }),
        retry: (id) => verbs.retryTask(id, { ...caller, fresh: work.fresh ?? false }),
        async delete(id) {
          // It went with one above it.
          if (!gone.has(id)) for (const each of (await verbs.removeTask(id, caller)).removed) gone.add(each)
        },
        async edit(id) {
          const { tags } = await verbs.getTask(id)
          const changed = [...new Set([...tags, ...addTags])].filter((tag) => !removeTags.includes(tag))
          const isSame = changed.length === tags.length && changed.every((tag) => tags.includes(tag))
          await verbs.editTask(id, { priority, ...(isSame ? {} : { tags: changed }) }, caller)
        },
      }
      const done: string[] = []
      const refused: BulkResult['refused'] = []
      for (const id of new Set(work.tasks))
        try {
          await act[action](id)
          done.push(id)
        } catch (error) {
          // Without the database every other would be refused in the same way.
          if (!(error instanceof PawlError) || error.code === 'unavailable' || error.code === 'internal') throw error
          refused.push({ id, code: error.code, message: error.message })
        }
      return { done, refused }
    },
  }
}
