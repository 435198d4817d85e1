import { mkdirSync } from 'node:fs'
import { findProgram } from '../../process/program.ts'
import { closedAncestor, type Identity } from './identity.ts'
import { isWithin } from './mounts.ts'

/** Writable for root alone, so nobody can put a link in our way. Each run lays its own file system over it, seen by that run only. */
const stagingDirectory = '/run/pawl-walls'

/** The way from root to the user: the words that go before `bwrap`, and where that user finds what it could not reach. */
export interface Drop {
  readonly words: readonly string[]
  readonly sourceOf: (path: string) => string
}

/**
 * Runs as root, in a mount namespace of its own, until its last line. Arguments: the mount program, the staging directory, the paths to
 * put there, `--`, the next program. Every path is an argument, never part of the script.
 */
const stageScript = `
set -e
mount=$1 stage=$2
shift 2
"$mount" -n -t tmpfs -o mode=0755,nosuid,nodev pawl "$stage"
n=0
while [ "$1" != -- ]; do
  if [ -d "$1" ]; then mkdir "$stage/$n"; else : > "$stage/$n"; fi
  "$mount" -n --rbind "$1" "$stage/$n"
  n=$((n + 1))
  shift
done
shift
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
export async function dropTo(user: Identity, paths: readonly string[], searchPath: string): Promise<Drop> {
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
  const closed = behind.filter((path) => !behind.some((other) => other !== path && isWithin(path, other)))
  if (closed.length === 0) return { ...noDrop, words: drop }
  mkdirSync(stagingDirectory, { recursive: true, mode: 0o755 })
  const stage = [await find('unshare'), '--mount', '--propagation', 'private', '--', '/bin/sh', '-c', stageScript, 'sh']
  return {
    words: [...stage, await find('mount'), stagingDirectory, ...closed, '--', ...drop],
    sourceOf(path) {
      const index = closed.findIndex((root) => isWithin(path, root))
      return index === -1 ? path : `${stagingDirectory}/${index}${path.slice(closed[index]?.length)}`
    },
  }
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
