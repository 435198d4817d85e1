import { chmodSync, closeSync, constants, fstatSync, openSync } from 'node:fs'
import { isAbsence } from './directory-handle.ts'

/** Names a file without opening it, for which no permission is needed. Node has no name for it. */
const path = 0o10000000

/** Gives the owner of a folder the rights that are needed, be it to read it or to change it as well; never through a link. */
export function letIn(folder: string, to: 'read' | 'write'): void {
  if (process.platform !== 'linux') return
  let fd: number
  try {
    fd = openSync(folder, path | constants.O_DIRECTORY | constants.O_NOFOLLOW)
  } catch (error) {
    if (isAbsence(error)) return
    throw error
  }
  try {
    const { mode, uid } = fstatSync(fd)
    const needed = to === 'read' ? 0o500 : 0o700
    if ((mode & needed) !== needed && (uid === process.getuid?.() || process.getuid?.() === 0))
      chmodSync(`/proc/self/fd/${fd}`, (mode & 0o777) | needed)
  } finally {
    closeSync(fd)
  }
}
