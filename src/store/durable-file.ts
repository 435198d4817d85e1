import { closeSync, fsync, openSync, renameSync, rmSync, writeFileSync } from 'node:fs'
import { dirname } from 'node:path'
import { promisify } from 'node:util'
import { temporarySuffix } from '../sandbox/files/temporary.ts'

const onDisk = promisify(fsync)

/** Writes a small file so that after a crash either the old or the new text is there, whole. Only for the disk itself is another thread worth its cost. */
export async function writeFileDurably(path: string, text: string, mode = 0o600): Promise<void> {
  // Of each writer its own, also of two in one process.
  const temporary = `${path}${temporarySuffix()}`
  try {
    const file = openSync(temporary, 'w', mode)
    try {
      writeFileSync(file, text)
      await onDisk(file)
    } finally {
      closeSync(file)
    }
    renameSync(temporary, path)
  } catch (error) {
    // What it holds may be a secret.
    rmSync(temporary, { force: true })
    throw error
  }
  const directory = openSync(dirname(path), 'r')
  try {
    await onDisk(directory)
  } finally {
    closeSync(directory)
  }
}
