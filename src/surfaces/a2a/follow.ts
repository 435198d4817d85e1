import type { StreamResponse } from '@a2a-js/sdk'
import { unavailable } from '../../domain/error.ts'
import { isInterrupted, isTerminal, stageOf } from '../../domain/task/stage.ts'
import type { Caller } from '../../operations/runtime.ts'
import type { A2AParts } from './parts.ts'
import { type Snapshot, snapshotOf } from './task.ts'
import { isLast, stageAfter, updatesOf } from './updates.ts'

export interface Following {
  readonly caller: Caller
  readonly historyLength?: number | undefined
  /** Also ends where the task waits for whoever follows. */
  readonly untilInterrupted: boolean
  readonly signal: AbortSignal
}

/** A task as it stands, then what becomes of it, in order, to its end. Nothing is lost or told twice between the two. */
export async function* follow(
  parts: A2AParts,
  id: string,
  following: Following,
): AsyncGenerator<StreamResponse, void, undefined> {
  const { caller, signal } = following
  const { task, view, seq } = await snapshotOf(parts, id, following)
  yield { payload: { $case: 'task', value: task } }
  if (isOver(stageOf(view), following)) return
  for await (const batch of parts.runtime.followEvents(id, { after: seq, signal }))
    for (const event of batch) {
      yield* await updatesOf(parts, event, view, caller)
      const stage = stageAfter(event)
      if (isLast(event) || (stage !== undefined && isOver(stage, following))) return
    }
  // Whoever follows must not take this for the end of the task.
  throw unavailable('The stream was cut before the task ended; subscribe to it again.')
}

/**
 * The task once nothing happens to it any more without somebody; as it stands if whoever waits goes away. Of one that was just made, `fromStart`, only the events are
 * looked at until there is something to see.
 */
export async function whenAtRest(
  parts: A2AParts,
  id: string,
  { fromStart = false, ...looking }: Omit<Following, 'untilInterrupted'> & { readonly fromStart?: boolean },
): Promise<Snapshot> {
  const { signal } = looking
  const untilInterrupted = true
  let now = fromStart ? undefined : await snapshotOf(parts, id, looking)
  while (!now || !isOver(stageOf(now.view), { untilInterrupted })) {
    for await (const batch of parts.runtime.followEvents(id, { after: now?.seq ?? 0, signal })) {
      const seen = batch.map(stageAfter).filter((stage) => stage !== undefined)
      if (seen.some((stage) => isOver(stage, { untilInterrupted }))) break
    }
    now = await snapshotOf(parts, id, looking)
    if (signal.aborted) break
  }
  return now
}

const isOver = (stage: ReturnType<typeof stageOf>, { untilInterrupted }: { readonly untilInterrupted: boolean }) =>
  isTerminal(stage) || (untilInterrupted && isInterrupted(stage))
