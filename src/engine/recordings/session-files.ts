import { readFile } from 'node:fs/promises'
import { join } from 'node:path'
import type { SessionFiles } from '../../agents/port.ts'
import type { LineOf } from '../../gateway/recordings/format.ts'
import type { Redactor } from '../../redact/redactor.ts'
import { putFile } from '../../sandbox/files/put-file.ts'
import type { AgentUser } from '../../sandbox/process/agent-user.ts'
import { filesBeside } from '../session/archive.ts'
import { findConversation, openHome, withFile } from '../session/home.ts'
import type { RecordingFolder } from './folder.ts'
import { keepFile } from './keep-file.ts'

type KeptSession = NonNullable<LineOf<'start'>['session']>

/** Keeps the files of the conversation that a run goes on with. Only what the adapter's layouts name is read, so no login gets there. */
export async function keepSession(
  vendorId: string,
  place: { home: string; files: SessionFiles; folder: RecordingFolder; redactor: Pick<Redactor, 'stream'> },
): Promise<KeptSession | undefined> {
  const { files, folder, redactor } = place
  const home = await openHome(place.home)
  if (!home) return undefined
  try {
    const main = await findConversation(home, files, vendorId)
    if (!main) return undefined
    const kept: KeptSession['files'] = []
    for (const path of [...(await filesBeside({ home, files, vendorId, main: main.path })), main.path]) {
      const one = await withFile(home, path, (file) => keepFile(file, folder, { redactor, count: async () => undefined }))
      if (one) kept.push({ path, ...one })
    }
    return { vendorId, files: kept }
  } finally {
    await home.root.close()
  }
}

/** Puts them into the home of another session, the conversation's own file last. */
export async function laySession(
  session: KeptSession,
  { home: path, files, user }: { home: string; files: string; user: AgentUser | undefined },
) {
  const home = await openHome(path)
  if (!home) throw new Error(`the session home ${path} does not exist`)
  try {
    for (const file of session.files) await putFile(home.root, file.path, [await readFile(join(files, file.sha256))], user)
  } finally {
    await home.root.close()
  }
}
