import { createHash } from 'node:crypto'
import { conflict, notFound } from '../../domain/error.ts'
import { newId } from '../../domain/id.ts'
import type { SubtaskAsked, SubtaskVerbs } from '../../domain/task/subtask.ts'
import type { TakenRun } from '../../store/runs.ts'
import { subtasksOf } from '../../store/subtasks.ts'
import { findByIdempotencyKey, insertTask, lockTask } from '../../store/tasks.ts'
import type { RunContext } from '../base/run-context.ts'
import { translateDbErrors } from '../base/translate-db-errors.ts'
import { assertQueueHasRoom, countSubtask } from '../tasks/quota.ts'
import { relate } from '../tasks/relate.ts'
import { assertMaySplit, maySplit, partOf, siblingsNamed } from '../tasks/subtasks/part.ts'
import { subtaskView } from '../tasks/subtasks/results.ts'
import type { RunParts } from './run.ts'

/** What the agent of a run may do with subtasks: those of the task it works on, and as many, as deep and as dear as that task allows. */
export function subtaskVerbs({ run, task }: TakenRun, parts: RunParts, voice: RunContext): SubtaskVerbs {
  const all = () => translateDbErrors(() => subtasksOf(parts.db, task.id))

  async function get(id: string) {
    const found = (await all()).find((subtask) => subtask.id === id)
    if (!found) throw notFound(`Your task has no subtask ${id.slice(0, 60)}.`)
    return subtaskView(found)
  }

  return {
    mayCreate: maySplit(task),
    get,
    list: async () => (await all()).map(subtaskView),
    own: async () => ({
      id: task.id,
      name: task.name,
      prompt: task.prompt,
      parent: task.parent_id,
      agent: task.agent,
      subtasks: (await all()).map(subtaskView),
    }),

    async create(given, clientKey) {
      voice.watch.sawEvent()
      const asked: SubtaskAsked = parts.redactor.value(given)
      const bodyHash = createHash('sha256').update(JSON.stringify(asked)).digest('hex')
      // Keys of subtasks are the task's own: a space cannot be in one that comes over HTTP.
      const key = clientKey === undefined ? `${task.id} ${run.id} ${bodyHash}` : `${task.id} key ${clientKey}`
      const id = newId('task', parts.clock.now())
      // What the agent said before stands before it in the journal.
      await parts.journal.flush()
      const made = await translateDbErrors(() =>
        parts.journal.transact('subtask.create', async (tx, record) => {
          const siblings = asked.dependsOn && (await siblingsNamed(tx, task.id, asked.dependsOn))
          // From a subtask to its parent, as everybody locks.
          const relations = await relate(tx, { dependsOn: siblings, acceptPartial: true })
          const parent = await lockTask(tx, task.id)
          if (parent?.state !== 'running' || parent.fence !== run.fence) throw conflict('This run is over.')
          const seen = await findByIdempotencyKey(tx, key)
          if (seen && seen.body_hash !== bodyHash)
            throw conflict(`This Idempotency-Key was used for another subtask (${seen.task_id}); choose a new key.`)
          if (seen) return { id: seen.task_id, isNew: false }
          await assertMaySplit(tx, parent)
          if (parts.maxQueued !== undefined) await assertQueueHasRoom(tx, parts.maxQueued)
          await countSubtask(tx, parent.user_name, parts.clock.now())
          const at = new Date(parts.clock.now())
          await insertTask(tx, {
            ...relations,
            ...(await partOf(tx, parent, asked, parts)),
            id,
            session: { id: newId('session', at.getTime()), isNew: true },
            at,
            idempotency: { key, bodyHash },
          })
          const name = asked.name === undefined ? {} : { name: asked.name }
          record({
            task: parent.id,
            run: run.id,
            fence: run.fence,
            event: { type: 'subtask.created', data: { task: id, ...name } },
          })
          return { id, isNew: true }
        }),
      )
      if (made.isNew) parts.journal.announce(made.id)
      return { subtask: await get(made.id), created: made.isNew }
    },
  }
}
