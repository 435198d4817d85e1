import { readdirSync, renameSync } from 'node:fs'
import { readdir } from 'node:fs/promises'
import { type DirectoryHandle, isAbsence, openIn } from './directory-handle.ts'
import { entryAt } from './entry.ts'
import { letIn, letRead } from './let-in.ts'
import { putEntry } from './put-entry.ts'
import { removeEntry } from './remove-tree.ts'
import { isLeft, temporarySuffix } from './temporary.ts'

interface Place {
  readonly parent: DirectoryHandle
  readonly name: string
}

/** How the name begins of what is not whole yet. */
const unfinished = '.pawl'

/** The handles on the way down stay open. */
const deepest = 100

/**
 * Moves whatever has that name, a link as a link, also from one file system to another. Pipes, sockets and devices do not cross, nor does what lies too deep: they are
 * removed. So nothing that an agent puts into a folder keeps that folder from being moved out.
 */
export async function moveEntry(from: Place, to: Place): Promise<void> {
  const target = to.parent.at(to.name)
  try {
    renameSync(from.parent.at(from.name), target)
  } catch (error) {
    const code = (error as { code?: string }).code
    if (code === 'EACCES') {
      // A folder that its owner may not write cannot be given another parent.
      letIn(from.parent.at(from.name), 'write')
      renameSync(from.parent.at(from.name), target)
      return
    }
    if (code !== 'EXDEV') throw error
    // A move before this one may have been cut off.
    for (const name of readdirSync(to.parent.at('.')))
      if (name.startsWith(unfinished) && isLeft(name)) await removeEntry(to.parent, name)
    await copyAcross(from, to)
    await removeEntry(from.parent, from.name)
  }
}

async function copyAcross(from: Place, to: Place, depth = 1): Promise<void> {
  const entry = await entryAt(from.parent.at(from.name))
  if (entry.kind === 'other') return
  if (entry.kind === 'directory') letIn(from.parent.at(from.name), 'write')
  else if (entry.kind === 'file') letRead(from.parent.at(from.name))
  // One that is closed to its owner could not be filled.
  const open = entry.kind === 'directory' ? { ...entry, mode: entry.mode | 0o700 } : entry
  await putEntry(from.parent.at(from.name), to.parent, to.name, open, undefined, `${unfinished}${temporarySuffix()}`)
  if (entry.kind !== 'directory' || depth >= deepest) return
  await inBoth(from, to, async (source, target) => {
    for (const name of await readdir(source.at('.')))
      await copyAcross({ parent: source, name }, { parent: target, name }, depth + 1).catch((error: unknown) => {
        // Gone by now, or a name that is no text.
        if (!isAbsence(error)) throw error
      })
  })
}

async function inBoth(
  from: Place,
  to: Place,
  act: (source: DirectoryHandle, target: DirectoryHandle) => Promise<void>,
): Promise<void> {
  const source = await openIn(from.parent, from.name)
  const target = await openIn(to.parent, to.name)
  try {
    if (source && target) await act(source, target)
  } finally {
    await source?.close()
    await target?.close()
  }
}
