import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs'
import { isAbsence } from './directory-handle.ts'

/** Names a file without opening it, for which no permission is needed. Node has no name for it. */
const path = 0o10000000

/** Gives the owner of a folder the rights that are needed, be it to read it or to change it as well; never through a link. */
export const letIn = (folder: string, to: 'read' | 'write'): void =>
  give(folder, to === 'read' ? 0o500 : 0o700, constants.O_DIRECTORY)

/** Gives us, if we own a file, the right to read it. Root needs none. */
export function letRead(file: string): void {
  if (process.getuid?.() !== 0) give(file, 0o400, 0)
}

function give(entry: string, needed: number, kind: number): void {
  if (process.platform !== 'linux') return
  let fd: number
  try {
    fd = openSync(entry, path | kind | constants.O_NOFOLLOW)
  } catch (error) {
    if (isAbsence(error)) return
    throw error
  }
  try {
    const found = fstatSync(fd)
    const { mode, uid } = found
    // Without O_DIRECTORY a link is opened itself.
    if (found.isSymbolicLink()) return
    if ((mode & needed) !== needed && (uid === process.getuid?.() || process.getuid?.() === 0))
      chmodSync(`/proc/self/fd/${fd}`, (mode & 0o777) | needed)
  } finally {
    closeSync(fd)
  }
}
