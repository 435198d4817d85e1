import { closeSync, constants, fchmodSync, fstatSync, lstatSync, openSync } from 'node:fs'
import { readdir, realpath } from 'node:fs/promises'
import type { Log } from '../base/log.ts'
import { messageOf } from '../domain/error.ts'
import { openDirectory } from '../sandbox/files/directory-handle.ts'

/** The bait of a self-test is open on purpose, and `.cache` is Node's where the home is also that of a user. */
const open = /^(?:self-test|\.cache)/
const others = 0o077

/**
 * Takes the home and what lies directly in it from everybody but its owner. A home that was there before Pawl, or was unpacked from somewhere, may be readable by all
 * who use this machine. Only what is ours is changed, by its open handle: nobody can put a link in its place meanwhile.
 */
export async function tightenHome(home: string, log: Log): Promise<void> {
  const directory = await openDirectory(await realpath(home))
  if (!directory) return
  const tightened: string[] = []
  try {
    if (narrow(directory.at('.'), constants.O_DIRECTORY)) tightened.push('.')
    for (const name of await readdir(directory.at('.'))) {
      if (open.test(name)) continue
      try {
        const stats = lstatSync(directory.at(name))
        if ((stats.isFile() || stats.isDirectory()) && narrow(directory.at(name), constants.O_NONBLOCK)) tightened.push(name)
      } catch (error) {
        // Gone meanwhile, or on a disk that knows no modes.
        log.warn('the mode of an entry of the home cannot be changed', { name, error: messageOf(error) })
      }
    }
  } finally {
    await directory.close()
  }
  if (tightened.length > 0)
    log.warn('the home could be read by other users; it is for its owner alone now', { home, entries: tightened.join(', ') })
}

/** True if something was taken away. */
function narrow(path: string, flags: number): boolean {
  const fd = openSync(path, constants.O_RDONLY | constants.O_NOFOLLOW | flags)
  try {
    const { mode, uid } = fstatSync(fd)
    if (uid !== process.getuid?.() || (mode & others) === 0) return false
    fchmodSync(fd, mode & 0o7777 & ~others)
    return true
  } finally {
    closeSync(fd)
  }
}
