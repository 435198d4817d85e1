import { PawlError } from '../../src/domain/error.ts'
import type { NewSchedule, ScheduleView } from '../../src/domain/schedule/schedule.ts'
import { type CrashHome, pause } from './home.ts'
import { type Acknowledged, newTask } from './scenario.ts'

/** An initial prompt, asked for as a careful client would: by a name, under which it is looked for before it is asked for again. Its one tick must make one task. */
export async function playSchedule(home: CrashHome, tag: string): Promise<Acknowledged> {
  const task = newTask({ kind: 'plain', tag })
  const policies = { session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 } as const
  const wanted: NewSchedule = { name: tag, when: { kind: 'initial' }, task, ...policies }
  await home.ask(async (client) => {
    try {
      return await client.getSchedule(tag)
    } catch (error) {
      if (error instanceof PawlError && error.code === 'not_found') return client.createSchedule(wanted)
      throw error
    }
  })
  const { id, ticks } = await untilTold(home, tag)
  const [tick] = ticks
  if (ticks.length !== 1 || tick?.state !== 'succeeded' || tick.task === null)
    throw new Error(`C8: an initial prompt has the ticks ${JSON.stringify(ticks)}`)
  const key = `schedule:${id}:${tick.dueAt}`
  return { id: tick.task, key, body: task, kind: 'plain', ends: ['completed'], answers: [], lost: [] }
}

async function untilTold(home: CrashHome, tag: string): Promise<ScheduleView> {
  for (let tries = 0; tries < 1_200; tries++) {
    const schedule = await home.ask((client) => client.getSchedule(tag))
    if (schedule.ticks.some(({ endedAt }) => endedAt !== null)) return schedule
    await pause(25)
  }
  throw new Error(`C9: the schedule ${tag} did not fire within 30 s`)
}
