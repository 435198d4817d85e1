import { lstatSync, realpathSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { inFolder } from '../../sandbox/files/directory-handle.ts'
import { namesIn } from '../../sandbox/files/names-in.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { removeLeft, removeLeftBelow } from '../../sandbox/files/temporary.ts'
import { checkHome } from '../checks/prove.ts'
import { toolHome } from '../endpoint/run-tools.ts'

/** Where Pawl makes something for a moment beside what it is to be. */
const folders = ['.', 'workspaces', 'guards', 'leftovers', 'recordings/files', 'shown-skills', 'blobs/unfinished']

/** Removes what processes that are gone left half made in a home, and in the system's folder for such things. Other folders of the home belong to agents. */
export async function sweepTemporaries(home: string): Promise<void> {
  // It may lie behind a link of its user's; below it everything is ours.
  const root = realpathSync.native(home)
  const below = (folder: string) => namesIn(join(root, folder)).map((name) => join(root, folder, name))
  for (const folder of folders) await removeLeft(join(root, folder))
  for (const folder of below('quarantine')) await removeLeft(folder)
  for (const folder of below('workspaces')) if (/\.(?:copy|kept|clone)$/.test(folder)) await removeLeft(folder)
  for (const session of namesIn(join(root, 'attachments')))
    for (const folder of below(join('attachments', session))) await removeLeft(folder)
  const temporary = realpathSync.native(tmpdir())
  const isOurs = (name: string) =>
    /^pawl-\w+\.\d/.test(name) && lstatSync(join(temporary, name), { throwIfNoEntry: false })?.uid === process.getuid?.()
  await removeLeft(temporary, isOurs)
}

/** Removes what a run made for itself alone, and what was being put into the home of its session. To be called when nothing of it lives. */
export async function sweepRun(home: string, run: string, session: string): Promise<void> {
  const root = realpathSync.native(home)
  const records = join(root, 'runs', run)
  await removeTree(toolHome({ records }))
  await removeTree(checkHome(records))
  await inFolder(join(root, 'sessions', session), removeLeftBelow)
}
