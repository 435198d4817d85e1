import { realpath, stat } from 'node:fs/promises'
import { isAbsolute } from 'node:path'
import { invalid, messageOf } from '../../domain/error.ts'

/** The folder that an editor has open, links followed, as a session has it for its workspace. */
export async function folderOf(cwd: string): Promise<string> {
  if (!isAbsolute(cwd) || cwd.includes('\0')) throw invalid(`The folder of a session must be an absolute path, not "${cwd}".`)
  const real = await realpath(cwd).catch((error: unknown) => {
    throw invalid(`The folder ${cwd} cannot be worked in: ${messageOf(error)}.`)
  })
  if (!(await stat(real)).isDirectory()) throw invalid(`${cwd} is no folder; open a folder.`)
  return real
}
