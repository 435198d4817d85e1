import { access, readdir, realpath } from 'node:fs/promises'
import { dirname, isAbsolute, join } from 'node:path'
import type { Standing } from '../domain/auth/role.ts'
import { hostPath, isInside } from '../domain/base/path.ts'
import type { FolderView } from '../domain/draft/draft.ts'
import { invalid, messageOf } from '../domain/error.ts'
import { mayAll, permittedFolder } from '../engine/auth/may-ask.ts'
import { translateDbErrors } from '../engine/base/translate-db-errors.ts'
import { openDirectory } from '../sandbox/files/directory-handle.ts'
import type { Db } from '../store/database.ts'
import { recentWorkspaces } from '../store/tasks.ts'

export interface FolderParts {
  readonly db: Db
  readonly home: string
  readonly userHome: string
  /** The folders in and below which those who are no admins may have agents work. */
  readonly sharedWorkspaces: readonly string[]
}

const mostShown = 500

/** Folders that whoever asks may have an agent work in; nobody sees more than they could give to a task. */
export async function listFolders(
  parts: FolderParts,
  path: string | undefined,
  standing: Standing | undefined,
): Promise<FolderView> {
  const may = (folder: string) =>
    permittedFolder(standing, folder, parts.sharedWorkspaces).then(
      () => true,
      () => false,
    )
  // Our own may lie behind a link of its user's.
  const homes = [parts.home, await realpath(parts.home).catch(() => parts.home)].map(hostPath)
  const isOurs = (folder: string) => homes.some((home) => isInside(home, hostPath(folder)))
  if (path === undefined) {
    const worked = await translateDbErrors(() => recentWorkspaces(parts.db, 20))
    const recent: string[] = []
    for (const folder of worked) if (!isOurs(folder) && (await may(folder))) recent.push(folder)
    const roots = mayAll(standing) ? [parts.userHome, ...parts.sharedWorkspaces] : parts.sharedWorkspaces
    const items = await Promise.all([...new Set(roots)].map((root) => itemOf(root, root)))
    return { path: null, parent: null, recent, items, isCut: false }
  }
  if (!isAbsolute(path) || path.includes('\0')) throw invalid(`A folder is named by an absolute path, not by "${path}".`)
  const folder = await permittedFolder(standing, path, parts.sharedWorkspaces)
  const entries = await entriesOf(folder).catch((error: unknown) => {
    throw invalid(`The folder ${path} cannot be looked into: ${messageOf(error)}.`)
  })
  const found = entries
    .filter((entry) => entry.isDirectory() && !entry.name.startsWith('.') && !isOurs(join(folder, entry.name)))
    .map(({ name }) => name)
    .sort((one, other) => one.localeCompare(other))
  const above = dirname(folder)
  return {
    path: folder,
    parent: above !== folder && (await may(above)) ? above : null,
    recent: [],
    items: await Promise.all(found.slice(0, mostShown).map((name) => itemOf(name, join(folder, name)))),
    isCut: found.length > mostShown,
  }
}

/** An agent that works there may have put a link in its place since it was looked at. */
async function entriesOf(path: string) {
  const folder = await openDirectory(path)
  if (!folder) throw new Error('it is not there, or was exchanged meanwhile')
  try {
    return await readdir(folder.at('.'), { withFileTypes: true })
  } finally {
    await folder.close()
  }
}

async function itemOf(name: string, path: string): Promise<FolderView['items'][number]> {
  const isRepository = await access(join(path, '.git')).then(
    () => true,
    () => false,
  )
  return { name, path, isRepository }
}
