import { appendFileSync } from 'node:fs'
import { join } from 'node:path'
import type { Client } from '../../src/client/index.ts'
import { accountOf } from '../../src/domain/agent/account.ts'
import { PawlError } from '../../src/domain/error.ts'
import { a2aPoints, playA2A } from './a2a.ts'
import { changedSince, findViolations, tasksAtRest } from './check.ts'
import type { Arm } from './daemon.ts'
import { chain, deleteThroughCrash } from './dependents.ts'
import { failpoints, skipsOf, splitByKind } from './failpoints.ts'
import { playFiles } from './files.ts'
import { CrashHome, firedFile, pause } from './home.ts'
import { listenThroughCrash } from './listener.ts'
import { mcpPoints, playMcp } from './mcp.ts'
import { tellThroughCrash } from './outbox.ts'
import { recheck } from './proof.ts'
import { playDeadline, playEscalation, playGrant } from './questions.ts'
import { type Acknowledged, create, type Kind, newTask, play } from './scenario.ts'
import { playSchedule } from './schedule.ts'

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
  /** Through which protocol its task is asked for; the API if left out. */
  readonly over?: 'a2a' | 'mcp' | undefined
}

/** Before a commit nothing is stored, so there it makes no difference whether the database dies along with the daemon. */
const victimsAt = (point: string) => victims.filter((victim) => victim !== 'both' || !point.endsWith('.before'))

const ofApi: readonly Cell[] = Object.entries(failpoints).flatMap(([point, reach]) =>
  victimsAt(point).flatMap((victim): Cell[] => {
    const cell = { name: `${point}/${victim}`, point, victim, kinds: [], skip: 0 }
    if ('way' in reach) return [cell]
    if (splitByKind.has(point))
      // One kind shows that the commit outlives both; what each kind commits is shown by the other victims.
      return (victim === 'both' ? reach.tasks.slice(0, 1) : reach.tasks).flatMap((kind) =>
        (skipsOf[kind] ?? [0]).map((skip) => ({
          ...cell,
          name: `${point}/${victim}/${kind}${skip === 0 ? '' : `/${skip}`}`,
          kinds: [kind],
          skip,
        })),
      )
    const first = { ...cell, kinds: reach.tasks }
    return reach.second ? [first, { ...first, name: `${point}/${victim}/second`, skip: 1 }] : [first]
  }),
)

/** The store is the same for all; what is another here is who asks, and what they hear. */
const ofProtocols: readonly Cell[] = Object.entries({ a2a: a2aPoints, mcp: mcpPoints }).flatMap(([over, points]) =>
  points.map(([point, skip]) => ({
    name: `${over}/${point}/daemon${skip === 0 ? '' : `/${skip}`}`,
    point,
    victim: 'daemon' as const,
    kinds: [],
    skip,
    over: over as 'a2a' | 'mcp',
  })),
)

export const cells: readonly Cell[] = [...ofApi, ...ofProtocols]

let count = 0
/** Unique in a home that serves many cells. */
export const nextTag = () => `c${process.pid}-${++count}`

/** Crashes at the cell's place while its tasks are played, lets everything recover, and answers with what is wrong. */
export async function runCell(cell: Cell, home: CrashHome): Promise<string[]> {
  const tag = nextTag()
  const before = home.fired.length
  const startsBefore = home.starts
  const reach = failpoints[cell.point]!
  const told = cell.over
    ? await { a2a: playA2A, mcp: playMcp }[cell.over](home, { name: cell.point, victim: cell.victim, skip: cell.skip }, tag)
    : 'way' in reach
      ? await ways[reach.way](home, cell, tag)
      : await playAll(home, cell, tag)
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
  // The crash of this cell was another one for the tasks of the cells before, in which recovery finds nothing to do.
  wrong.push(...(await changedSince(home, home.atRest)))
  home.atRest = await tasksAtRest(home)
  return wrong
}

/** A second recovery finds nothing to do. */
export async function recoverTwice(home: CrashHome): Promise<string[]> {
  const once = await tasksAtRest(home)
  await home.restart()
  return changedSince(home, once)
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
    const fresh = new CrashHome({ fresh: true })
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
  async delete(home, cell, tag) {
    const made = await play(home, { kind: 'plain', tag })
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    await deleteThroughCrash(home, made)
    return []
  },
  async edit(home, cell, tag) {
    const made = await chain(home, tag)
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    await home.ask((client) => client.editTask(made[1].id, { priority: 5 }))
    const { priority } = await home.ask((client) => client.getTask(made[1].id))
    if (priority !== 5) throw new Error(`C1: a confirmed change was lost: the priority of ${made[1].id} is ${priority}`)
    return finish(home, made)
  },
  files: (home, cell, tag) => playFiles(home, { name: cell.point, victim: cell.victim, skip: 0 }, tag),
  async outbox(home, cell, tag) {
    await tellThroughCrash(home, { name: cell.point, victim: cell.victim, skip: 0 }, tag)
    return []
  },
  async listener(home, cell, tag) {
    await listenThroughCrash(home, { name: cell.point, victim: cell.victim, skip: 0 }, tag)
    return []
  },
  async deadline(home, cell, tag) {
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    return [await playDeadline(home, tag)]
  },
  async escalation(home, cell, tag) {
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    return [await playEscalation(home, tag)]
  },
  async grant(home, cell, tag) {
    // The first time nothing is there to be used yet.
    await home.arm({ name: cell.point, victim: cell.victim, skip: 1 })
    return [await playGrant(home, tag)]
  },
  async schedule(home, cell, tag) {
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    return [await playSchedule(home, tag)]
  },
  async wake(home, cell, tag) {
    const made = [await play(home, { kind: 'plain', tag }), await play(home, { kind: 'crash-once', tag })]
    const ids = made.map(({ id }) => `'${id}'`).join(', ')
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    // No plain command can be parked, so the rows are set as a usage limit that should be over would have left them.
    await home.query(`with cooling as (${cooldown('crash-once', '2020-01-01')})
      update pawl.tasks set state = 'parked', ended_at = null, resume_at = '2020-01-01' where id in (${ids})`)
    await finish(home, made, 2)
    await untilFree(home)
    return made
  },
  async put_off(home, cell, tag) {
    const { first, late } = await putOff(home, tag, { name: cell.point, victim: cell.victim, skip: 0 })
    // It ends only now: a limit that ends by itself may be over before a busy machine has come to the task.
    await home.query(`with over as (update pawl.cooldowns set until = '2020-01-01' where account = '${account('crash-once')}')
      update pawl.tasks set resume_at = '2020-01-01' where id = '${late.id}'`)
    await finish(home, [late])
    await untilFree(home)
    return [first, late]
  },
  async wake_now(home, cell, tag) {
    const { first, late } = await putOff(home, tag)
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    await once(home, (client) => client.resumeTask(late.id))
    await finish(home, [late])
    await untilFree(home)
    return [first, late]
  },
  async recheck(home, cell, tag) {
    const made = await play(home, { kind: 'checked', tag })
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    await recheck(home, made.id)
    return [made]
  },
  async clear_limit(home, cell, tag) {
    const { first, late } = await putOff(home, tag)
    await home.arm({ name: cell.point, victim: cell.victim, skip: 0 })
    await once(home, (client) => client.clearLimits('crash-crash-once'))
    await finish(home, [late])
    return [first, late]
  },
}

/** A usage limit of the account of the tasks of this kind, as a run that met it leaves it. */
function cooldown(kind: Kind, until: string): string {
  return `insert into pawl.cooldowns (account, kind, until, step, why, agent, since, updated_at)
    values ('${account(kind)}', 'usage_limit', '${until}', 1, 'for a test', 'crash-${kind}', '2020-01-01', '2020-01-01') returning account`
}

const account = (kind: Kind) => accountOf(newTask({ kind, tag: '' }).agentConfig!)

/** A task that waits for the end of a limit which nobody will live to see. */
async function putOff(home: CrashHome, tag: string, arm?: Arm): Promise<{ first: Acknowledged; late: Acknowledged }> {
  const first = await play(home, { kind: 'plain', tag })
  await home.query(cooldown('crash-once', '2090-01-01'))
  if (arm) await home.arm(arm)
  const late = await create(home, { kind: 'crash-once', tag })
  for (let tries = 0; (await home.ask((client) => client.getTask(late.id))).state !== 'parked'; tries++) {
    if (tries > 1_000) throw new Error(`C9: task ${late.id} is not put off`)
    await pause(20)
  }
  return { first, late }
}

/** Until it is confirmed, or refused because an unconfirmed request was stored. */
async function once(home: CrashHome, work: (client: Client) => Promise<unknown>): Promise<void> {
  await home.ask(work).catch((error: unknown) => {
    if (!(error instanceof PawlError) || (error.code !== 'conflict' && error.code !== 'not_found')) throw error
  })
}

/** A limit that was shown to be over is forgotten. */
async function untilFree(home: CrashHome): Promise<void> {
  // Others in this home may have met limits of their own.
  const rows = await home.query(`select account from pawl.cooldowns where account = '${account('crash-once')}'`)
  if (rows.length > 0) throw new Error(`an account still counts as limited although its tasks have run: ${JSON.stringify(rows)}`)
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
