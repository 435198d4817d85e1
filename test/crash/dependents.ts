import { existsSync } from 'node:fs'
import { join } from 'node:path'
import { PawlError } from '../../src/domain/error.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import { eventsOf } from './check.ts'
import { type CrashHome, pause } from './home.ts'
import { type Acknowledged, create, type Kind, newTask } from './scenario.ts'

const restWithinMs = 40_000

/** A task that waits for the one that is played, where that is played. Not under its tag: whoever counts tasks counts what was played. */
export async function addDependent(home: CrashHome, made: Acknowledged, { kind, tag }: { kind: Kind; tag: string }) {
  if (kind !== 'needed' && kind !== 'needed-fails') return async () => undefined
  const { tags: _, ...plain } = newTask({ kind: 'plain', tag: `${tag}-after` })
  const key = { idempotencyKey: `${tag}.after.${kind}` }
  const { task } = await home.ask((client) => client.createTask({ ...plain, dependsOn: [made.id] }, key))
  return async () => {
    const wanted = kind === 'needed' ? 'completed' : 'failed'
    await untilState(home, task.id, wanted)
    const types = (await eventsOf(home, task.id)).map((event) => event.type).filter((type) => type.startsWith('task.'))
    const once = wanted === 'completed' ? ['task.created', 'task.requeued', 'task.completed'] : ['task.created', 'task.failed']
    // A run of it that a crash took away is begun again.
    const seen = types.filter((type, index) => type !== 'task.requeued' || types.indexOf(type) === index)
    if (seen.join() !== once.join()) throw new Error(`C3: the events of what depends on ${made.id} are ${types.join()}`)
  }
}

/** Deletes a task while everything dies: it is there whole or gone whole, with its files. */
export async function deleteThroughCrash(home: CrashHome, { id }: Pick<Acknowledged, 'id'>): Promise<void> {
  const { runs } = await home.ask((client) => client.getTask(id))
  await home
    .ask((client) => client.removeTask(id))
    .catch((error: unknown) => {
      // An unconfirmed request was stored.
      if (!(error instanceof PawlError) || error.code !== 'not_found') throw error
    })
  const gone = await home.ask((client) => client.getTask(id)).catch((error: unknown) => error)
  if (!(gone instanceof PawlError) || gone.code !== 'not_found') throw new Error(`C1: the deleted task ${id} is still there`)
  const left = await home.query(
    `select 'event' as what from pawl.events where task_id = '${id}' union all select 'run' from pawl.runs where task_id = '${id}'`,
  )
  if (left.length > 0) throw new Error(`C1: of the deleted task ${id} there is still ${JSON.stringify(left)}`)
  const deadline = performance.now() + restWithinMs
  while (runs.some((run) => existsSync(join(home.dir, 'runs', run.id)))) {
    if (performance.now() > deadline) throw new Error(`C9: files of the deleted task ${id} are still there`)
    await pause(50)
    // Whoever died after the commit left them for the next one who looks.
    await home.ask((client) => client.health())
  }
}

/** Two tasks, of which the second waits for the first. */
export async function chain(home: CrashHome, tag: string): Promise<[Acknowledged, Acknowledged]> {
  const first = await create(home, { kind: 'slow', tag, seconds: 1.5 })
  const body = { ...newTask({ kind: 'plain', tag }), dependsOn: [first.id] }
  const key = `${tag}.second`
  const { task } = await home.ask((client) => client.createTask(body, { idempotencyKey: key }))
  return [first, { id: task.id, key, body, kind: 'plain', ends: ['completed'], answers: [], lost: [] }]
}

async function untilState(home: CrashHome, id: string, wanted: TaskView['state']): Promise<void> {
  const deadline = performance.now() + restWithinMs
  for (;;) {
    const { state } = await home.ask((client) => client.getTask(id))
    if (state === wanted) return
    if (performance.now() > deadline) throw new Error(`C9: ${id}, which depended on another, is ${state}, not ${wanted}`)
    await pause(50)
  }
}
