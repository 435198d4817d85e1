import type { Stats } from 'node:fs'
import { lstat, readlink, realpath } from 'node:fs/promises'
import { delimiter, isAbsolute, join, resolve } from 'node:path'
import { type HostPath, hostPath, isInside, parentOf } from '../../domain/base/path.ts'
import { agentUser } from './agent-user.ts'

const mostLinks = 40

/**
 * May this file be executed outside of all walls? Only if it exists and no agent can have written it: neither it, nor a folder or link on the way to it, lies in one
 * of the folders that agents `write`, belongs to their user, or can be changed by somebody who is neither its owner, nor root, nor we.
 */
export async function isTrusted(path: string, write: readonly string[]): Promise<boolean> {
  try {
    const steps = await stepsTo(path)
    const folders = await Promise.all(
      write.map((folder) =>
        realpath(folder)
          .catch(() => resolve(folder))
          .then(hostPath),
      ),
    )
    if (steps.some((step) => folders.some((folder) => isInside(folder, step.path)))) return false
    return isKeptByItsOwner(steps.map(({ stats }) => stats))
  } catch {
    // Gone, a loop of links, or in a folder that we may not look into: nobody knows what it would be.
    return false
  }
}

/** The folders of a search path whose programs may be executed outside of all walls: a script there finds its interpreter by it. */
export async function trustedFolders(path: string, write: readonly string[]): Promise<string> {
  const folders = path.split(delimiter).filter(isAbsolute)
  const trusted = await Promise.all(folders.map((folder) => isTrusted(folder, write)))
  return folders.filter((_, index) => trusted[index]).join(delimiter)
}

interface Step {
  readonly path: HostPath
  readonly stats: Stats
}

/** Every folder, link and file that the system passes on its way to what the path means, each by its real path. */
async function stepsTo(path: string): Promise<[Step, ...Step[]]> {
  let at = hostPath('/')
  let links = 0
  const steps: [Step, ...Step[]] = [{ path: at, stats: await lstat(at) }]
  const ahead = resolve(path).split('/')
  for (let name = ahead.shift(); name !== undefined; name = ahead.shift()) {
    if (name === '' || name === '.') continue
    if (name === '..') {
      at = parentOf(at)
      continue
    }
    const next = hostPath(join(at, name))
    const stats = await lstat(next)
    steps.push({ path: next, stats })
    if (!stats.isSymbolicLink()) {
      at = next
      continue
    }
    if (++links > mostLinks) throw new Error(`${path} is behind too many links.`)
    const target = await readlink(next)
    if (isAbsolute(target)) at = hostPath('/')
    ahead.unshift(...target.split('/'))
  }
  return steps
}

function isKeptByItsOwner(steps: readonly Stats[]): boolean {
  const own = process.getuid?.()
  const owner = steps.at(-1)?.uid
  return steps.every((stats) => {
    if (stats.uid !== 0 && stats.uid !== own && stats.uid !== owner) return false
    if (stats.uid === agentUser.uid) return false
    // The rights of a link itself say nothing.
    if (stats.isSymbolicLink()) return true
    if (stats.gid === agentUser.gid && (stats.mode & 0o020) !== 0) return false
    // In a folder with the sticky bit everybody may add, but only its owner may replace a thing that is there.
    return (stats.mode & 0o002) === 0 || (stats.isDirectory() && (stats.mode & 0o1000) !== 0)
  })
}
