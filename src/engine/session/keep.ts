import type { Adapter } from '../../agents/port.ts'
import { fp } from '../../base/failpoint.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import type { Walls } from '../../sandbox/port.ts'
import { learnVendorSession, type TakenRun } from '../../store/runs.ts'
import { whenDatabaseIsBack } from '../base/await-database.ts'
import type { RunContext } from '../base/run-context.ts'
import type { RunServices } from '../base/run-services.ts'
import { archiveSession } from './archive.ts'

type KeepParts = Pick<RunServices, 'db' | 'clock'>

/** Stored as soon as it is known: a crash a moment later can resume the conversation. */
export async function learnSession(taken: TakenRun, parts: KeepParts, vendorId: string, log: Log): Promise<void> {
  await fp('session.learn.before')
  await learnVendorSession(parts.db, taken.run, vendorId, new Date(parts.clock.now())).catch((error: unknown) =>
    log.warn('the session id will be stored at the end of the run', { error: String(error) }),
  )
  await fp('session.learn.after')
}

export const storeSession = async ({ run }: TakenRun, { db, clock }: KeepParts, vendorId: string | undefined) =>
  vendorId === undefined ? undefined : learnVendorSession(db, run, vendorId, new Date(clock.now()))

/** A conversation that could not be archived is still on disk; the run has ended all the same. */
export async function archive(
  taken: TakenRun,
  parts: KeepParts,
  { adapter, walls, voice }: { readonly adapter: Adapter; readonly walls: Pick<Walls, 'home'>; readonly voice: RunContext },
  vendorId: string,
): Promise<void> {
  if (!adapter.sessions) return
  try {
    await fp('session.archive.before')
    const conversation = {
      db: parts.db,
      home: walls.home,
      files: adapter.sessions,
      session: taken.task.session_id,
      vendorId,
      run: taken.run,
      at: new Date(parts.clock.now()),
    }
    const archived = await whenDatabaseIsBack(parts, voice, () => archiveSession(conversation))
    await fp('session.archive.after')
    for (const { code, detail } of archived?.notes ?? []) await voice.note(code, detail)
  } catch (error) {
    voice.log.warn('a conversation was not archived', {
      session: taken.task.session_id,
      error: messageOf(error),
      reason: 'not_archived',
    })
    await voice.note('not_archived', 'The conversation could not be archived; its files are still on this machine.')
  }
}
