import { TaskNotFoundError } from '@a2a-js/sdk/errors'
import { PawlError } from '../../domain/error.ts'
import { TaskId } from '../../domain/id.ts'
import type { TaskView } from '../../domain/view/view.ts'
import type { A2AParts } from './parts.ts'

/** The task of that id, if it is one of this endpoint. Of one that is not, the same is said as of one that is not there. */
export async function taskHere({ runtime, agent }: Pick<A2AParts, 'runtime' | 'agent'>, id: string): Promise<TaskView> {
  const gone = () => new TaskNotFoundError(`There is no task ${id.slice(0, 100)} here.`)
  if (!TaskId.safeParse(id).success) throw gone()
  const task = await runtime.getTask(id).catch((error: unknown) => {
    if (error instanceof PawlError && error.code === 'not_found') throw gone()
    throw error
  })
  if (agent !== undefined && task.agent !== agent) throw gone()
  return task
}
