import { nextTag } from './cells.ts'
import { changedSince, findViolations, tasksAtRest } from './check.ts'
import { failpoints } from './failpoints.ts'
import { type CrashHome, pause, troubleFile } from './home.ts'
import { marksOf, namesIn, play } from './scenario.ts'

/** What is worse than a death, because nobody is told of it: the database stands still, its connections bring nothing any more, or the daemon hardly gets a processor. */
const troubles = ['stall', 'silence', 'slow'] as const

export interface TroubleCell {
  readonly name: string
  readonly point: string
  readonly trouble: (typeof troubles)[number]
  readonly seconds: number
}

/** Where something is asked, stored, started and told. The moves of the matrix commit all alike. */
const points = [
  'task.create.before',
  'task.admit.after',
  'claim.before',
  'claim.after',
  'killunit.record.before',
  'spawn.after',
  'event.batch.before',
  'event.batch.after',
  'money.reserve.before',
  'check.run',
  'entry.put',
  'outcome.record',
  'run.settle.before',
  'run.settle.after',
  'question.ask.before',
  'question.answer.before',
  'session.pass.after',
  'session.archive.before',
  'task.cancel.before',
  'task.retry.after',
]

/** Longer than agents go on without a confirmed beat. */
const seconds = { stall: 12, silence: 0, slow: 10 }

export const troubleCells: readonly TroubleCell[] = [
  ...points.flatMap((point) =>
    troubles.map((trouble) => ({ name: `${point}/${trouble}`, point, trouble, seconds: seconds[trouble] })),
  ),
  ...['event.batch.before', 'run.settle.before'].map((point) => ({
    name: `${point}/stall-25`,
    point,
    trouble: 'stall' as const,
    seconds: 25,
  })),
]

/** Plays the tasks of the cell's place through its trouble, and answers with what is wrong. No daemon is started again, and no run is lost. */
export async function runTrouble({ point, trouble, seconds }: TroubleCell, home: CrashHome): Promise<string[]> {
  const tag = nextTag()
  const [before, startsBefore] = [home.fired.length, home.starts]
  const reach = failpoints[point]!
  if (!('tasks' in reach)) throw new Error(`no task reaches ${point}`)
  home.patienceMs = 30_000 + 4_000 * seconds
  await home.arm({ name: point, victim: trouble, skip: 0, seconds })
  const told = await Promise.all(reach.tasks.map((kind, index) => play(home, { kind, tag, walled: index === 1 })))
  await untilOver(home)
  home.giveUpSilent()
  const wrong = await findViolations(home, told, tag)
  if (!home.fired.slice(before).includes(point)) wrong.push(`the failpoint ${point} was never reached`)
  if (home.starts > startsBefore) wrong.push('the daemon did not outlive it')
  for (const { id } of told) {
    const task = await home.ask((client) => client.getTask(id))
    const begun = new Set(marksOf(task).map(({ run }) => run))
    // What has not begun may be begun again.
    for (const run of task.runs)
      if (run.outcome === 'lost' || (run.outcome === 'interrupted' && begun.has(run.id)))
        wrong.push(`C15: ${run.id} is ${run.outcome}`)
  }
  wrong.push(...(await changedSince(home, home.atRest)))
  home.atRest = await tasksAtRest(home)
  return wrong
}

async function untilOver(home: CrashHome): Promise<void> {
  while (namesIn(home.dir).some((name) => name.startsWith(troubleFile))) await pause(50)
}
