import { chown, mkdir } from 'node:fs/promises'
import { join } from 'node:path'
import type { Adapter, SessionFiles } from '../../agents/port.ts'
import { invalid, notFound, PawlError } from '../../domain/error.ts'
import { newId } from '../../domain/id.ts'
import { putFile } from '../../sandbox/files/put-file.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import type { Db } from '../../store/database.ts'
import { insertSession } from '../../store/sessions.ts'
import { archiveConversation, filesBeside } from './archive.ts'
import { readAt } from './file-end.ts'
import { findConversation, type Home, isIdOf, openHome, withFile } from './home.ts'

export interface Adopted {
  readonly session: string
  /** Where the conversation was found. */
  readonly from: string
  readonly files: number
  readonly bytes: number
}

/** Makes a session of a conversation that was begun in the program itself. The program's own files are copied and stay as they are. */
export async function adoptSession(options: {
  readonly db: Db
  readonly adapter: Adapter
  /** The configured agent that goes on with it. */
  readonly agent: string
  readonly vendorId: string
  /** The home of the user whose conversation it is. */
  readonly userHome: string
  /** Where the homes of sessions are. */
  readonly sessionsFolder: string
  /** Whom the files of agents belong to, if not to us. */
  readonly user: AgentUser | undefined
  readonly workspace: string
  readonly nowMs: number
}): Promise<Adopted> {
  const { db, adapter, agent, vendorId, user, workspace, nowMs } = options
  const files = adopting(adapter, vendorId)
  const source = await openHome(options.userHome, { isOurs: true })
  const main = source && (await findConversation(source, files, vendorId))
  if (!source || !main) {
    await source?.root.close()
    const looked = files.layouts(vendorId).map((layout) => join(options.userHome, layout))
    throw notFound(`${adapter.title} has no conversation ${vendorId} here; looked for ${looked.join(', ')}.`)
  }

  const session = newId('session', nowMs)
  const path = join(options.sessionsFolder, session)
  try {
    const paths = [main.path, ...(await filesBeside({ home: source, files, vendorId, main: main.path }))]
    const home = await makeHome(path, user)
    try {
      let bytes = 0
      for (const file of paths.toReversed()) bytes += await copyFile(source, home, file, user)
      const at = new Date(nowMs)
      const from = join(options.userHome, main.path)
      await db.transaction().execute(async (tx) => {
        await insertSession(tx, { id: session, agent, adapter: adapter.name, workspace, vendorId, adoptedFrom: from, at })
        await archiveConversation(tx, { home, files, session, vendorId, main: main.path, stored: [], at })
      })
      return { session, from, files: paths.length, bytes }
    } finally {
      await home.root.close()
    }
  } catch (error) {
    await removeTree(path)
    throw error
  } finally {
    await source.root.close()
  }
}

function adopting(adapter: Adapter, vendorId: string): SessionFiles {
  const { sessions, title } = adapter
  if (!sessions || !adapter.can.resume)
    throw new PawlError('unsupported', `${title} keeps no conversations that could be gone on with; adopt one of another agent.`)
  if (sessions.rewritten)
    throw new PawlError(
      'unsupported',
      `${title} keeps all conversations of a user in one database, so that none can be taken out of it alone; begin a session with Pawl.`,
    )
  if (!isIdOf(sessions, vendorId))
    throw invalid(`${JSON.stringify(vendorId)} is not an id of a conversation of ${title}; take it from the program itself.`)
  return sessions
}

async function makeHome(path: string, user: AgentUser | undefined): Promise<Home> {
  await mkdir(path, { recursive: true, mode: 0o700 })
  if (user) await chown(path, user.uid, user.gid)
  const home = await openHome(path)
  if (!home) throw new Error(`the home ${path} did not stay where it was made`)
  return home
}

async function copyFile(source: Home, home: Home, path: string, user: AgentUser | undefined): Promise<number> {
  const copied = await withFile(source, path, (file, size) => putFile(home.root, path, bytesOf(file, size), user))
  return copied ?? 0
}

/** As long as the file was when it was opened: the program may be writing to it. */
async function* bytesOf(file: number, size: number): AsyncGenerator<Buffer> {
  for (let at = 0; at < size; ) {
    const bytes = await readAt(file, at, Math.min(1024 * 1024, size - at))
    if (bytes.length === 0) return
    yield bytes
    at += bytes.length
  }
}
