import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import { z } from 'zod'
import { conflict, invalid } from '../../domain/error.ts'
import { ReplayReport } from '../../domain/view/recording.ts'
import { normaliser } from '../../gateway/recordings/normalise.ts'
import { sayDivergence } from '../../gateway/recordings/replay.ts'
import { isAbsence } from '../../sandbox/files/directory-handle.ts'
import type { Db } from '../../store/database.ts'
import { totalsOfTask } from '../../store/ledger.ts'
import { eventsOfRun } from '../../store/recordings.ts'
import { runsOfTask } from '../../store/runs.ts'
import type { TaskRow } from '../../store/tables.ts'
import { compareEvents } from './compare-events.ts'
import { loadRecording } from './folder.ts'

/** In the folder of the run that was a replay. */
export const replayFile = 'replay.json'

/** What the run itself knows of how it went. */
export const ReplayFacts = z.object({
  of: z.string(),
  until: z.number().nullable(),
  recorded: z.number(),
  replayed: z.number(),
  live: z.number(),
  missing: z.array(z.number()),
  divergence: ReplayReport.shape.divergence,
  places: z.object({ workspace: z.string(), home: z.string() }),
})
export type ReplayFacts = z.infer<typeof ReplayFacts>

/** How a replay compares with the run that it repeats. */
export async function reportReplay({ db, home }: { db: Db; home: string }, task: TaskRow): Promise<ReplayReport> {
  const of = task.spec.replay
  if (!of) throw invalid(`Task ${task.id} is no replay; make one with: pawl replay RUN`)
  const run = (await runsOfTask(db, task.id)).at(-1)
  if (!run?.ended_at) throw conflict(`The replay ${task.id} has not ended yet; wait for it with: pawl wait ${task.id}`)
  const facts = await factsOf(home, run.id)
  if (!facts)
    throw conflict(`The replay ${task.id} did not begin: ${run.message ?? task.reason?.detail ?? 'nothing is known of why'}`)
  const { start } = await loadRecording(home, of.run)
  const places = [
    ...(start
      ? [
          { path: start.workspace, as: 'workspace' },
          { path: start.home, as: 'home' },
        ]
      : []),
    { path: facts.places.workspace, as: 'workspace' },
    { path: facts.places.home, as: 'home' },
  ]
  const [recorded, replayed, totals] = await Promise.all([
    eventsOfRun(db, of.run),
    eventsOfRun(db, run.id),
    totalsOfTask(db, task.id),
  ])
  const compared = compareEvents(recorded, replayed, normaliser(places))
  // What a provider says now has nothing to be compared with.
  const events = facts.live > 0 ? { ...compared, difference: null } : compared
  const { divergence, missing } = facts
  const calls = { recorded: facts.recorded, replayed: facts.replayed, live: facts.live, missing }
  const identical = divergence === null && missing.length === 0 && events.difference === null
  const report = { task: task.id, run: run.id, of: of.run, until: facts.until, identical, calls, divergence, events }
  return { ...report, costUsd: facts.live === 0 ? 0 : (totals?.costUsd ?? null), says: sayReport(report) }
}

const counted = (count: number, what: string) => `${count} ${what}${count === 1 ? '' : 's'}`

function sayReport({ identical, calls, divergence, events }: Omit<ReplayReport, 'says' | 'costUsd'>): string {
  if (divergence) return sayDivergence(divergence)
  if (calls.missing.length > 0) return `The run ended without asking for call ${calls.missing.join(', ')} of the recording.`
  if (events.difference) {
    const { number, at, recorded, replayed } = events.difference
    return `All calls were the same, but event ${number} differs at ${at}: it was ${JSON.stringify(recorded)} and is ${JSON.stringify(replayed)}.`
  }
  const live = calls.live > 0 ? `, then ${calls.live} went to a provider` : ''
  return identical && calls.live === 0
    ? `Identical: ${counted(calls.replayed, 'call')} and ${counted(events.replayed, 'event')} are the same.`
    : `Up to the last that was to be replayed all calls were the same (${calls.replayed})${live}.`
}

async function factsOf(home: string, run: string): Promise<ReplayFacts | undefined> {
  const text = await readFile(join(home, 'runs', run, replayFile), 'utf8').catch((error: unknown) => {
    if (isAbsence(error)) return undefined
    throw error
  })
  return text === undefined ? undefined : ReplayFacts.parse(JSON.parse(text))
}
