import { chmodSync, closeSync, existsSync, mkdirSync, openSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type HostPath, hostPath, isBelow, isInside, pathIn, relativeTo } from '../../domain/base/path.ts'
import { findProgram } from '../process/program.ts'
import { closedAncestor, type Identity } from './identity.ts'
import { type MountTable, tableIn } from './mount-table.ts'

/** Writable for root alone, so nobody can put a link in our way. Each run lays what it needs over the places in it, seen by that run only. */
const stagingDirectory = '/run/pawl-walls'

/** The way from root to the user: the words that go before `bwrap`, and where that user finds what it could not reach. */
export interface Drop {
  readonly words: readonly string[]
  readonly sourceOf: (path: HostPath) => string
  /** Must lie there while the words are followed; see `withTable`. */
  readonly table?: MountTable | undefined
}

/**
 * Runs as root, in a mount namespace of its own, until its last line. Arguments: the mount program, a table of what is laid over what, the next
 * program. All of it is mounted by one process, because starting one takes longer than what it does.
 */
const stageScript = `
set -e
mount=$1 table=$2
shift 2
"$mount" -n -a -T "$table"
exec "$@"
`

export const noDrop: Drop = { words: [], sourceOf: (path) => path }

/**
 * How root becomes `user` for good before `bwrap` starts. All of it is one process from the first word on, because each word executes
 * the next, so killing it from outside needs no forwarding. It is not tied to our life before bubblewrap does so itself: what starts
 * without us notices at the handshake (launch.ts) and ends, while a bubblewrap killed too early leaves its child waiting (0.8.0).
 *
 * Root follows links on the way to `paths`, so none of them lies where an agent could have put one; what is deeper in them is found by
 * the user, with the user's rights.
 */
export async function dropTo(user: Identity, paths: readonly HostPath[], searchPath: string): Promise<Drop> {
  const find = (name: string) => findOnce(name, searchPath)
  const setpriv = [
    await find('setpriv'),
    '--reuid',
    String(user.uid),
    '--regid',
    String(user.gid),
    '--clear-groups',
    '--no-new-privs',
  ]
  const drop = [...setpriv, '--inh-caps=-all', '--bounding-set=-all', '--']
  const behind = paths.filter((path) => closedAncestor(path, user) !== undefined)
  const closed = behind.filter((path) => !behind.some((other) => isBelow(other, path)))
  if (closed.length === 0) return { ...noDrop, words: drop }
  const places = closed.map((path, index) => placeFor(path, index))
  const stage = [await find('unshare'), '--mount', '--propagation', 'private', '--', '/bin/sh', '-c', stageScript, 'sh']
  const mount = await find('mount')
  const table = tableIn(
    stagingDirectory,
    closed.map((path, index) => [path, places[index]!]),
  )
  return {
    words: [...stage, mount, table.path, ...drop],
    table,
    sourceOf(path) {
      const index = closed.findIndex((root) => isInside(root, path))
      return index === -1 ? path : pathIn(places[index]!, relativeTo(closed[index]!, path)!)
    },
  }
}

/** Each is made once, empty, and stays. */
function placeFor(path: string, index: number): HostPath {
  const isDirectory = statSync(path).isDirectory()
  const place = hostPath(join(stagingDirectory, `${isDirectory ? 'folder' : 'file'}-${index}`))
  if (existsSync(place)) return place
  mkdirSync(stagingDirectory, { recursive: true })
  // The user goes through it, whatever the mask of this process takes away.
  chmodSync(stagingDirectory, 0o755)
  if (isDirectory) mkdirSync(place, { recursive: true })
  else closeSync(openSync(place, 'a'))
  return place
}

const found = new Map<string, Promise<string>>()

/** The system's own programs stay where they are; looking for each of them at every launch costs more than the launch itself. */
export function findOnce(name: string, searchPath: string): Promise<string> {
  const key = `${name}\0${searchPath}`
  let program = found.get(key)
  if (!program) {
    program = findProgram(name, { path: searchPath, folder: '/' })
    // One that is missing may be installed meanwhile.
    program.catch(() => found.delete(key))
    found.set(key, program)
  }
  return program
}
