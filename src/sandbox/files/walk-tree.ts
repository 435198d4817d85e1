import { lstatSync, opendirSync, type Stats } from 'node:fs'
import { setImmediate as nextTurn } from 'node:timers/promises'
import { type DirectoryHandle, isAbsence, openIn } from './directory-handle.ts'

export interface TreeEntry {
  /** Relative to where the walk began. */
  readonly path: string
  readonly name: string
  readonly folder: DirectoryHandle
  readonly stats: Stats
}

/** What a walk does after an entry: goes into it if it is a folder, passes it over, or ends. */
export type Step = 'in' | 'past' | 'end'

/** The handles on the way down stay open. */
const deepest = 100
/** Everybody else gets a turn after this time. */
const sliceMs = 5

/**
 * Sees everything below an open folder, from open folder to open folder, so that no link leads out, whoever puts one there and when. Names are read a few at a time: a
 * folder of a million costs no more memory than one of ten. Answers true if something lay too deep to be seen, or could not be.
 */
export async function walkTree(
  root: DirectoryHandle,
  see: (entry: TreeEntry) => Step | Promise<Step>,
): Promise<{ readonly isPartial: boolean }> {
  let isPartial = false
  let since = performance.now()
  const walk = async (folder: DirectoryHandle, above: string, depth: number): Promise<boolean> => {
    const names = opendirSync(folder.at('.'), { bufferSize: 256 })
    try {
      for (let entry = names.readSync(); entry; entry = names.readSync()) {
        if (performance.now() - since > sliceMs) {
          await nextTurn()
          since = performance.now()
        }
        const { name } = entry
        const stats = lookAt(folder, name)
        if (!stats) {
          // A name that is no text cannot be asked about by it.
          if (name.includes('\ufffd')) isPartial = true
          continue
        }
        const path = above === '' ? name : `${above}/${name}`
        const step = await see({ path, name, folder, stats })
        if (step === 'end') return false
        if (step === 'past' || !stats.isDirectory()) continue
        const below = depth < deepest ? await enter(folder, name) : undefined
        if (!below) {
          isPartial ||= lookAt(folder, name)?.isDirectory() === true
          continue
        }
        try {
          if (!(await walk(below, path, depth + 1))) return false
        } finally {
          await below.close()
        }
      }
      return true
    } finally {
      names.closeSync()
    }
  }
  await walk(root, '', 1)
  return { isPartial }
}

/** Undefined also for a folder that may not be entered. */
async function enter(folder: DirectoryHandle, name: string): Promise<DirectoryHandle | undefined> {
  try {
    return await openIn(folder, name)
  } catch (error) {
    if ((error as { code?: string }).code === 'EACCES') return undefined
    throw error
  }
}

function lookAt(folder: DirectoryHandle, name: string): Stats | undefined {
  try {
    return lstatSync(folder.at(name), { throwIfNoEntry: false })
  } catch (error) {
    if (isAbsence(error) || ['EACCES', 'ENAMETOOLONG'].includes((error as { code?: string }).code ?? '')) return undefined
    throw error
  }
}
