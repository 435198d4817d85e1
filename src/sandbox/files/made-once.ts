import { link, readFile, rm, writeFile } from 'node:fs/promises'
import { isAbsence } from './directory-handle.ts'
import { temporarySuffix } from './temporary.ts'

/** The text of a file that only its owner reads; undefined if there is none. */
export async function readIfThere(file: string): Promise<string | undefined> {
  try {
    return await readFile(file, 'utf8')
  } catch (error) {
    if (isAbsence(error)) return undefined
    throw error
  }
}

/**
 * The text of a file that is made at most once and then kept, such as a key that others come to trust. Of those who make it at the same moment, in this process or in others,
 * one wins, and all are answered what lies there then.
 */
export async function madeOnce(file: string, make: () => string): Promise<string> {
  const found = await readIfThere(file)
  if (found !== undefined) return found
  // Of each maker its own: a draft that is linked already must not be written any more.
  const draft = `${file}${temporarySuffix()}`
  try {
    await writeFile(draft, make(), { mode: 0o600, flush: true })
    // Unlike renaming, linking never replaces.
    await link(draft, file).catch((error: NodeJS.ErrnoException) => {
      if (error.code !== 'EEXIST') throw error
    })
  } finally {
    await rm(draft, { force: true })
  }
  return readFile(file, 'utf8')
}
