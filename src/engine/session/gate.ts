import type { Adapter, SessionFiles } from '../../agents/port.ts'
import type { Clock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import { messageOf } from '../../domain/error.ts'
import type { NewEvent } from '../../domain/event/event.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import type { SessionCare } from '../../domain/run/outcome.ts'
import { putFile } from '../../sandbox/files/put-file.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import type { Db, Tx } from '../../store/database.ts'
import { holdLease, knownFiles } from '../../store/session-archive.ts'
import { forgetOrigin, setConversation } from '../../store/sessions.ts'
import type { SessionRow } from '../../store/tables.ts'
import type { Journal } from '../journal/journal.ts'
import { beginsWith } from './archive.ts'
import { type FoundFile, findConversation, type Home, isIdOf, isUsed, type Look, openHome, withFile } from './home.ts'
import { DamagedArchive, restoreSession } from './restore.ts'
import { isMarked } from './rewritten.ts'
import { transcriptMessage, transcriptOf } from './transcript.ts'

export interface Passed {
  /** The program's id of the conversation to go on with. */
  readonly resume?: string
  /** To be put before the message: what was said before, for a program that starts without it. */
  readonly preface?: string
  /** `lost`: the run is no longer ours, and nothing was changed. */
  readonly how: 'new' | 'resumed' | 'restored' | 'rebuilt' | 'retold' | 'reset' | 'lost'
}

export interface GateOptions {
  readonly db: Db
  readonly journal: Journal
  readonly clock: Clock
  readonly log: Log
  readonly adapter: Adapter
  readonly session: SessionRow
  readonly task: { readonly id: string }
  readonly run: { readonly id: string; readonly fence: number }
  /** The session's home on this machine; it exists. */
  readonly home: string
  readonly user: AgentUser | undefined
  /** As the agent will see it. */
  readonly workspace: string
  readonly model?: string | undefined
  readonly version?: string | undefined
  readonly care: SessionCare
  /** A new conversation was asked for. */
  readonly fresh: boolean
  /** The program could not be held to the profile's rules if it went on by itself. */
  readonly mustRetell?: boolean
  readonly look?: Look
}

/**
 * The one way to decide which conversation a run goes on with. A stored id alone counts for nothing: the file of exactly that conversation must be there, or is
 * restored from the archive, or made anew from the journal, or what it held is told as a message; else a new conversation begins, on this very run.
 */
export async function passGate(options: GateOptions): Promise<Passed> {
  const { adapter, session, care } = options
  const vendorId = session.vendor_id
  if (!adapter.can.resume) return { how: 'new' }
  if (session.adopted_from !== null) await sayOrigin(options, session.adopted_from)
  if (options.fresh) return beginAnew(options, 'asked')
  if (vendorId === null && !session.retell) return { how: 'new' }

  if (options.mustRetell) return makeAnew(options, undefined, 'rules')
  // Nothing of it lies here that could be damaged or gone.
  if (adapter.isElsewhere && vendorId !== null) return { how: 'resumed', resume: vendorId }
  const files = adapter.sessions
  if (!files) {
    if (vendorId === null || care !== 'keep') return makeAnew(options, undefined, vendorId === null ? 'unheard' : 'refused')
    // Nobody knows where it lies, but not in a home that the program has never written in.
    return (await isUsed(options.home)) ? { how: 'resumed', resume: vendorId } : makeAnew(options, undefined, 'missing')
  }
  const home = await openHome(options.home)
  if (!home) throw new Error(`the home of session ${session.id} does not exist`)
  try {
    // The program has never heard of it: what was said so far was said to another one, say.
    if (vendorId === null) return await makeAnew(options, { files, home, found: undefined }, 'unheard')
    if (!isIdOf(files, vendorId)) return await makeAnew(options, { files, home, found: undefined }, 'bad_id')
    const found = await findConversation(home, files, vendorId, options.look)
    const fault = found !== undefined && care === 'keep' ? await faultOf(options, files, home, found, vendorId) : undefined
    if (found && care === 'keep' && !fault) return { how: 'resumed', resume: vendorId }
    const why = found ? (fault ?? 'refused') : 'missing'
    const restored = care === 'rebuild' ? undefined : await restore(options, { files, home, found, vendorId, why })
    if (restored) return restored
    return fault ? { how: 'resumed', resume: vendorId } : await makeAnew(options, { files, home, found }, why)
  } finally {
    await home.root.close()
  }
}

/**
 * The file only grows, and every turn that came to its end is archived. So one that is shorter than the archive has lost its end, or has missed a turn that was had
 * elsewhere (`cut`); one that does not begin with what is archived has gone another way than the session (`strayed`).
 */
async function faultOf(
  { db, session }: GateOptions,
  files: SessionFiles,
  home: Home,
  found: FoundFile,
  vendorId: string,
): Promise<'cut' | 'strayed' | undefined> {
  const [main, ...others] = await knownFiles(db, session.id, vendorId)
  if (!main?.is_main || !main.is_whole || main.path !== found.path) return undefined
  // Of a file that is rewritten nobody can see whether it has gone on from what is archived: that is noted beside it.
  if (files.rewritten) return (await isMarked(home, main.path, [main, ...others])) ? undefined : 'strayed'
  if (found.size < main.size) return 'cut'
  const isContinued = await withFile(home, found.path, (file) => beginsWith(file, main))
  return isContinued === false ? 'strayed' : undefined
}

async function restore(
  options: GateOptions,
  {
    files,
    home,
    found,
    vendorId,
    why,
  }: { files: SessionFiles; home: Home; found: FoundFile | undefined; vendorId: string; why: string },
): Promise<Passed | undefined> {
  const { session, user, log } = options
  return asHolder<Passed | undefined>(options, async (tx, record) => {
    try {
      const restored = await restoreSession(tx, { home, files, user, session: session.id, vendorId, refused: found?.path })
      if (!restored) return undefined
      record({ type: 'session.restored', data: { vendorId, why, ...restored } })
      log.info('a conversation was restored from the archive', { session: session.id, vendorId, why, reason: 'session_restored' })
      return { how: 'restored', resume: vendorId }
    } catch (error) {
      if (!(error instanceof DamagedArchive)) throw error
      log.warn('an archive cannot be used', { session: session.id, error: error.message, reason: 'archive_damaged' })
      return undefined
    }
  })
}

interface Place {
  readonly files: SessionFiles
  readonly home: Home
  readonly found: FoundFile | undefined
}

/** From the journal: in the program's own form if it can read one, else as a message, else not at all. */
async function makeAnew(options: GateOptions, place: Place | undefined, why: string): Promise<Passed> {
  const transcript = await transcriptOf(options.db, options.session.id)
  if (transcript.length === 0) return beginAnew(options, why)
  const rebuilt = place && (await rebuild(options, place, transcript, why))
  return rebuilt ?? retell(options, transcript, why)
}

async function rebuild(
  options: GateOptions,
  { files, home, found }: Place,
  transcript: readonly Utterance[],
  why: string,
): Promise<Passed | undefined> {
  const { session, workspace, model, version, user, clock, log } = options
  const old = session.vendor_id ?? ''
  const isOldUsable = isIdOf(files, old)
  const fresh = crypto.randomUUID()
  // A program that refused the file of an id may refuse the id as well.
  const vendorId = isOldUsable && (found === undefined || !isIdOf(files, fresh)) ? old : fresh
  if (!files.rebuild || !isIdOf(files, vendorId)) return undefined
  let made: { readonly path: string; readonly content: string }
  try {
    made = files.rebuild(transcript, { vendorId, workspace, model, version })
  } catch (error) {
    log.warn('a conversation cannot be rebuilt in the form of its program', { session: session.id, error: messageOf(error) })
    return undefined
  }
  return asHolder<Passed>(options, async (tx, record) => {
    await putFile(home.root, made.path, [Buffer.from(made.content)], user)
    await setConversation(tx, session.id, { vendorId, retell: false, at: new Date(clock.now()) })
    record({ type: 'session.rebuilt', data: { vendorId, why, form: 'native', utterances: transcript.length } })
    if (vendorId !== old) logStale(options, why)
    else
      log.info('a conversation was rebuilt from the journal', { session: session.id, vendorId, why, reason: 'session_rebuilt' })
    return { how: 'rebuilt', resume: vendorId }
  })
}

/** The session remembers that it owes the program its history until that has named a conversation in which it heard it. */
function retell(options: GateOptions, transcript: readonly Utterance[], why: string): Promise<Passed> {
  if (transcript.length === 0) return beginAnew(options, why)
  return asHolder<Passed>(options, async (tx, record) => {
    await setConversation(tx, options.session.id, { vendorId: null, retell: true, at: new Date(options.clock.now()) })
    record({ type: 'session.rebuilt', data: { why, form: 'message', utterances: transcript.length } })
    logStale(options, why)
    return { how: 'retold', preface: transcriptMessage(transcript) }
  })
}

async function beginAnew(options: GateOptions, why: string): Promise<Passed> {
  const { session, clock, log } = options
  const vendorId = session.vendor_id
  if (vendorId === null && !session.retell) return { how: 'new' }
  return asHolder<Passed>(options, async (tx, record) => {
    await setConversation(tx, session.id, { vendorId: null, retell: false, at: new Date(clock.now()) })
    record({ type: 'session.reset', data: { vendorId: vendorId ?? '', why } })
    if (why !== 'asked') logStale(options, why)
    else log.info('a new conversation was asked for', { session: session.id, vendorId, reason: 'session_reset' })
    return { how: 'reset' }
  })
}

function logStale({ log, session }: GateOptions, why: string): void {
  const vendorId = session.vendor_id
  if (vendorId === null) return
  log.info('a stale session id was dropped', { session: session.id, vendorId, why, reason: 'stale_session' })
}

async function sayOrigin(options: GateOptions, from: string): Promise<void> {
  const { session } = options
  await asHolder<Passed | undefined>(options, async (tx, record) => {
    if (await forgetOrigin(tx, session.id)) record({ type: 'session.adopted', data: { vendorId: session.vendor_id ?? '', from } })
    return undefined
  })
}

/** Files, rows and events change while the run's lease is held, so that a run which lost its task cannot touch the home of the one that has it. */
function asHolder<T extends Passed | undefined>(
  { journal, task, run }: GateOptions,
  work: (tx: Tx, record: (event: NewEvent) => void) => Promise<T>,
): Promise<T | Passed> {
  return journal.transact('session.pass', async (tx, record) => {
    if (!(await holdLease(tx, run))) return { how: 'lost' }
    return work(tx, (event) => record({ task: task.id, run: run.id, fence: run.fence, event }))
  })
}
