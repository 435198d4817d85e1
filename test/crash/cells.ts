import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import { findViolations, fingerprint } from './check.ts'
import type { Arm } from './daemon.ts'
import { failpoints, splitByKind } from './failpoints.ts'
import { CrashHome, firedFile, pause } from './home.ts'
import { type Acknowledged, create, type Kind, play } from './scenario.ts'

export const victims = ['daemon', 'database', 'both'] as const satisfies readonly Arm['victim'][]
export type Victim = (typeof victims)[number]

/** One place, one victim. `kind` where the place is passed by several moves. */
export interface Cell {
  readonly name: string
  readonly point: string
  readonly victim: Victim
  readonly kinds: readonly Kind[]
  /** How often the place is passed before. */
  readonly skip: number
}

export const cells: readonly Cell[] = Object.entries(failpoints).flatMap(([point, reach]) =>
  victims.flatMap((victim): Cell[] => {
    const cell = { name: `${point}/${victim}`, point, victim, kinds: [], skip: 0 }
    if ('way' in reach) return [cell]
    if (splitByKind.has(point)) return reach.tasks.map((kind) => ({ ...cell, name: `${point}/${victim}/${kind}`, kinds: [kind] }))
    const first = { ...cell, kinds: reach.tasks }
    return reach.second ? [first, { ...first, name: `${point}/${victim}/second`, skip: 1 }] : [first]
  }),
)

let count = 0
/** Unique in a home that serves many cells. */
export const nextTag = () => `c${process.pid}-${++count}`

/** Crashes at the cell's place while its tasks are played, lets everything recover, and answers with what is wrong. */
export async function runCell(cell: Cell, home: CrashHome): Promise<string[]> {
  const tag = nextTag()
  const before = home.fired.length
  const startsBefore = home.starts
  const reach = failpoints[cell.point]!
  const told = 'way' in reach ? await ways[reach.way](home, cell, tag) : await playAll(home, cell, tag)
  await home.settled()
  const wrong = await findViolations(home, told, tag)
  if (!home.fired.slice(before).includes(cell.point)) wrong.push(`the failpoint ${cell.point} was never reached`)
  // A daemon outlives its database: it starts it again and goes on.
  const mayStart =
    cell.victim !== 'database' || cell.point === 'shutdown.drain'
      ? Number.POSITIVE_INFINITY
      : cell.point === 'worker.bury'
        ? 1
        : 0
  if (home.starts - startsBefore > mayStart)
    wrong.push(`the daemon did not outlive its database: it was started ${home.starts - startsBefore} times`)
  if (cell.victim === 'database' && told.some((task) => task.lost.some((file) => !file.wasArchived)))
    wrong.push('a conversation was not archived because the database was away for a moment')
  if (cell.victim === 'daemon') wrong.push(...(await recoverTwice(home)))
  return wrong
}

/** A second recovery finds nothing to do. */
export async function recoverTwice(home: CrashHome): Promise<string[]> {
  const once = await fingerprint(home)
  await home.restart()
  const twice = await fingerprint(home)
  return once === twice ? [] : [`a second recovery changed something:\n${once}\n${twice}`]
}

async function playAll(home: CrashHome, cell: Cell, tag: string): Promise<Acknowledged[]> {
  await home.arm({ name: cell.point, victim: cell.victim, skip: cell.skip })
  // Behind walls an agent dies with its daemon, without them it has to be found and ended: every other cell has it so.
  return Promise.all(cell.kinds.map((kind, index) => play(home, { kind, tag, walled: index === 1 })))
}

const ways: Record<
  Extract<(typeof failpoints)[string], { way: string }>['way'],
  (home: CrashHome, cell: Cell, tag: string) => Promise<Acknowledged[]>
> = {
  async first_start(home, cell, tag) {
    // The shared home has its schema long since: this needs one that has never been started.
    const fresh = new CrashHome()
    try {
      fresh.nextStarts.push({ name: cell.point, victim: cell.victim, skip: 0 })
      await fresh.start()
      const told = [await play(fresh, { kind: 'plain', tag })]
      const wrong = await findViolations(fresh, told, tag)
      if (wrong.length > 0) throw new Error(wrong.join('\n'))
      appendFileSync(join(home.dir, firedFile), fresh.fired.map((name) => `${name}\n`).join(''))
    } finally {
      await fresh.close()
    }
    return []
  },
  async recovery(home, cell, tag) {
    const made = [await create(home, { kind: 'slow', tag, seconds: 1 })]
    await untilRunning(home, made[0]!.id)
    home.nextStarts.push({ name: cell.point, victim: cell.victim, skip: 0 })
    await home.restart()
    return finish(home, made)
  },
  async shutdown(home, cell, tag) {
    const made = [await create(home, { kind: 'slow', tag, seconds: 1 }), await create(home, { kind: 'plain', tag, walled: true })]
    await untilRunning(home, made[0]!.id)
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    await home.ask((client) => client.shutdown())
    return finish(home, made)
  },
  async beat(home, cell, tag) {
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    // Longer than the time between two beats.
    return [await play(home, { kind: 'slow', tag, seconds: 5.5 })]
  },
  async wake(home, cell, tag) {
    const made = [await play(home, { kind: 'plain', tag })]
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    // No plain command can be parked, so the row is set as a usage limit would have left it.
    await home.query(
      `update pawl.tasks set state = 'parked', ended_at = null, resume_at = '2020-01-01' where id = '${made[0]!.id}'`,
    )
    await finish(home, made, 2)
    return made
  },
}

async function untilRunning(home: CrashHome, id: string): Promise<void> {
  for (let tries = 0; tries < 1_000; tries++) {
    const task = await home.ask((client) => client.getTask(id))
    if (task.runs.some((run) => run.walls !== null)) return
    await pause(20)
  }
  throw new Error(`C9: task ${id} does not start`)
}

async function finish(home: CrashHome, made: Acknowledged[], runs = 1): Promise<Acknowledged[]> {
  for (let tries = 0; tries < 1_200; tries++) {
    const tasks = await Promise.all(made.map(({ id }) => home.ask((client) => client.getTask(id))))
    if (tasks.every((task) => task.state === 'completed' && task.runs.length >= runs)) return made
    await pause(25)
  }
  throw new Error(`C9: ${made.map(({ id }) => id).join(', ')} did not end within 30 s`)
}
