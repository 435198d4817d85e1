import type { SessionFiles } from '../../agents/port.ts'
import { putFile } from '../../sandbox/files/put-file.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import type { Db, Tx } from '../../store/database.ts'
import { type ArchivedFile, knownFiles, readFile } from '../../store/session-archive.ts'
import { digestOf, endOf } from './file-end.ts'
import { type Home, removeFile } from './home.ts'
import { clearRewritten, markArchived } from './rewritten.ts'

export interface Restored {
  readonly files: number
  readonly bytes: number
}

/**
 * Puts the archived files of a conversation into a home, the conversation's own file last: where that is, the rest is too. Undefined if nothing is archived, or
 * only an older state. Throws a `DamagedArchive` if the archive is not what was stored. The caller holds the lease of the session's run.
 */
export async function restoreSession(
  db: Db | Tx,
  options: {
    readonly home: Home
    readonly user: AgentUser | undefined
    readonly session: string
    readonly vendorId: string
    readonly files?: Pick<SessionFiles, 'rewritten'> | undefined
    /** Where a file of this conversation lies that the program refused: two of one id would be one too many. */
    readonly refused?: string | undefined
  },
): Promise<Restored | undefined> {
  const { home, user, session, vendorId, refused, files } = options
  const [main, ...others] = await knownFiles(db, session, vendorId)
  if (!main?.is_main || !main.is_whole) return undefined
  const beside = others.filter((file) => file.is_whole)
  let bytes = 0
  if (files?.rewritten) await clearRewritten(home, main.path, files.rewritten)
  for (const file of [...beside, main]) bytes += await putFile(home.root, file.path, checked(db, file), user)
  if (refused !== undefined && refused !== main.path) await removeFile(home, refused)
  if (files?.rewritten) await markArchived(home, main.path, [main, ...others], user)
  return { files: beside.length + 1, bytes }
}

export class DamagedArchive extends Error {}

async function* checked(db: Db | Tx, file: ArchivedFile): AsyncGenerator<Buffer> {
  let size = 0
  let tail: Buffer = Buffer.alloc(0)
  for await (const bytes of readFile(db, file)) {
    yield bytes
    size += bytes.length
    tail = endOf(Buffer.concat([tail, bytes]))
  }
  if (size !== file.size || !digestOf(tail).equals(file.tail_digest))
    throw new DamagedArchive(
      `The archive of ${file.path} of session ${file.session_id} is damaged: ${size} of ${file.size} bytes.`,
    )
}
