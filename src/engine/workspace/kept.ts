import { lstatSync, readdirSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { join } from 'node:path'
import { conflict, notFound } from '../../domain/error.ts'
import type { KeptWorkspaceView } from '../../domain/workspace-view.ts'
import { isAbsence } from '../../files/directory-handle.ts'
import { removeTree } from '../../files/remove-tree.ts'
import { takingTurns } from './turns.ts'

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
  for (const { name } of entries.filter((entry) => entry.isDirectory())) {
    const [task = name, kind] = /^([^.]+)(?:\.\d+)?\.(copy|kept|clone)(?:\.half)?$/.exec(name)?.slice(1) ?? [name, 'own']
    const path = join(folder, name)
    const isKind = kind as KeptWorkspaceView['kind']
    kept.push({
      name,
      task,
      kind: isKind,
      path,
      bytes: await bytesIn(path),
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

/** On disk. A file with two names counts twice; what is removed meanwhile does not count. */
async function bytesIn(root: string): Promise<number> {
  let bytes = 0
  const folders = [root]
  for (const turn = takingTurns(); ; ) {
    const folder = folders.pop()
    if (folder === undefined) return bytes
    await turn()
    try {
      for (const entry of readdirSync(folder, { withFileTypes: true })) {
        const path = join(folder, entry.name)
        if (entry.isDirectory()) folders.push(path)
        else bytes += (lstatSync(path, { throwIfNoEntry: false })?.blocks ?? 0) * 512
      }
    } catch (error) {
      const code = (error as { code?: string }).code
      if (!isAbsence(error) && code !== 'EACCES') throw error
    }
  }
}
