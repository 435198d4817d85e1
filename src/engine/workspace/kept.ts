import { realpathSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { conflict, notFound } from '../../domain/error.ts'
import type { KeptWorkspaceView } from '../../domain/view/workspace.ts'
import { isAbsence, openDirectory, openIn } from '../../sandbox/files/directory-handle.ts'
import { removeTree } from '../../sandbox/files/remove-tree.ts'
import { isTemporary } from '../../sandbox/files/temporary.ts'
import { walkTree } from '../../sandbox/files/walk-tree.ts'

/** Has this task ended, so that nothing goes on in its workspace? True also for a task that nobody knows any more. */
export type HasEnded = (task: string) => Promise<boolean>

/** The folders of Pawl's own in which tasks work, and those that hold what could not be brought back, with their sizes. */
export async function listKept(home: string, hasEnded: HasEnded): Promise<KeptWorkspaceView[]> {
  const folder = join(home, 'workspaces')
  const entries = await readdir(folder, { withFileTypes: true }).catch((error: unknown) => {
    if (isAbsence(error)) return []
    throw error
  })
  const kept: KeptWorkspaceView[] = []
  for (const { name } of entries.filter((entry) => entry.isDirectory() && !isTemporary(entry.name))) {
    const [task = name, kind] = /^([^.]+)(?:\.\d+)?\.(copy|kept|clone)(?:\.half)?$/.exec(name)?.slice(1) ?? [name, 'own']
    const path = join(folder, name)
    const isKind = kind as KeptWorkspaceView['kind']
    kept.push({
      name,
      task,
      kind: isKind,
      path,
      bytes: await bytesIn(folder, name),
      removable: isKind === 'kept' || (await hasEnded(task)),
    })
  }
  return kept
}

/** Removes one of them for good. Refused while its task may go on. */
export async function removeKept(home: string, name: string, hasEnded: HasEnded): Promise<KeptWorkspaceView> {
  const found = (await listKept(home, hasEnded)).find((one) => one.name === name)
  if (!found) throw notFound(`There is no workspace ${name}; "pawl workspace ls" lists those there are.`)
  if (!found.removable) throw conflict(`The task ${found.task} has not ended and needs its workspace; cancel it first.`)
  await removeTree(found.path)
  return found
}

/** On disk. A file with two names counts twice; what is removed meanwhile does not count. An agent may be at work in there. */
async function bytesIn(folder: string, name: string): Promise<number> {
  let bytes = 0
  const parent = await openDirectory(realpathSync.native(folder))
  const root = parent && (await openIn(parent, name).catch(() => undefined))
  try {
    if (root)
      await walkTree(root, ({ stats }) => {
        if (!stats.isDirectory()) bytes += stats.blocks * 512
        return 'in'
      })
    return bytes
  } finally {
    await root?.close()
    await parent?.close()
  }
}
