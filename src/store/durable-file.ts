import { open, rename, rm } from 'node:fs/promises'
import { dirname } from 'node:path'

/** Writes a small file so that after a crash either the old or the new text is there, whole. */
export async function writeFileDurably(path: string, text: string, mode = 0o600): Promise<void> {
  const temporary = `${path}.${process.pid}.tmp`
  try {
    const file = await open(temporary, 'w', mode)
    try {
      await file.writeFile(text)
      await file.sync()
    } finally {
      await file.close()
    }
    await rename(temporary, path)
  } catch (error) {
    // What it holds may be a secret.
    await rm(temporary, { force: true })
    throw error
  }
  const directory = await open(dirname(path), 'r')
  try {
    await directory.sync()
  } finally {
    await directory.close()
  }
}
