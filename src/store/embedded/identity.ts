import { execFile } from 'node:child_process'
import { chmodSync, readFileSync } from 'node:fs'
import { userInfo } from 'node:os'
import { promisify } from 'node:util'
import { messageOf, PawlError } from '../../domain/error.ts'
import type { Binaries } from './binaries.ts'
import { isCode } from './lock.ts'

/** As whom the server runs, since PostgreSQL refuses root and initdb refuses a uid without a name. */
export interface Identity {
  readonly way: 'self' | 'user_namespace' | 'system_uid'
  /** Put in front of the server's own command. */
  readonly prefix: readonly string[]
  /** Owner of the data directory, as seen from outside. */
  readonly uid: number
  readonly gid: number
  /** For spawn, where no prefix does it. */
  readonly spawnAs: { readonly uid?: number; readonly gid?: number }
}

const run = promisify(execFile)

/** The first way that really starts the server's program here and lets it into `root`, the folder around the data directory. */
export async function chooseIdentity(binaries: Binaries, root: string): Promise<Identity> {
  const failures: string[] = []
  for (const way of waysFor(process.getuid?.() ?? 0, process.getgid?.() ?? 0)) {
    const probe = ['/bin/sh', '-c', 'cd "$1" && exec "$2" --version', 'sh', root, binaries.postgres]
    const [program = '', ...args] = [...way.prefix, ...probe]
    // Passing through is all another uid needs; what lies inside is closed by its own modes.
    chmodSync(root, way.spawnAs.uid === undefined ? 0o700 : 0o711)
    try {
      await run(program, args, { env: { ...binaries.env }, cwd: '/', timeout: 10_000, ...way.spawnAs })
      return way
    } catch (error) {
      failures.push(`${way.prefix[0] ?? way.way}: ${reasonOf(error)}`)
    }
  }
  const who = process.getuid?.() === 0 ? 'as root, which PostgreSQL refuses to run as' : `as uid ${process.getuid?.()}`
  throw new PawlError(
    'unavailable',
    `The bundled PostgreSQL cannot be started ${who} (${failures.join('; ')}). ` +
      'Run Pawl as an ordinary user, allow user namespaces, or give your own server with --database-url.',
  )
}

/** What the program said, or else how it ended; its long command line helps nobody. */
function reasonOf(error: unknown): string {
  if (!(error instanceof Error)) return messageOf(error)
  const said = 'stderr' in error ? String(error.stderr).trim().split('\n').at(-1) : ''
  return said || ('code' in error ? `failed with ${error.code}` : error.message)
}

function waysFor(uid: number, gid: number): Identity[] {
  const self: Identity = { way: 'self', prefix: [], uid, gid, spawnAs: {} }
  if (uid !== 0 && hasName()) return [self]
  const users = unprivilegedUsers()
  // Not 65534 in a namespace: there it is also the face of everybody who is not mapped, so that foreign files would look like ours.
  const inside = users.find((user) => user.uid === 1000) ?? users.find((user) => user.uid !== 65534)
  const system = users.find((user) => user.name === 'nobody') ?? users[0]
  if (inside === undefined || system === undefined) return uid === 0 ? [] : [self]
  const namespace: Identity = {
    ...self,
    way: 'user_namespace',
    // Inside it is somebody with a name; outside its files and rights stay those of the caller.
    prefix: ['unshare', '--user', `--map-user=${inside.uid}`, `--map-group=${inside.gid}`, '--'],
  }
  return uid === 0 ? [namespace, ...systemUidWays(system)] : [namespace, self]
}

/**
 * First with the one capability that lets it pass directories only root may enter (a container's default home is one);
 * it gains nothing by it that its only clients, who are root, do not have.
 */
function systemUidWays({ uid, gid }: User): Identity[] {
  const base = { way: 'system_uid', uid, gid } as const
  const drop = ['setpriv', `--reuid=${uid}`, `--regid=${gid}`, '--clear-groups']
  return [
    { ...base, prefix: [...drop, '--inh-caps=+dac_override', '--ambient-caps=+dac_override', '--'], spawnAs: {} },
    { ...base, prefix: [], spawnAs: { uid, gid } },
  ]
}

interface User {
  readonly name: string
  readonly uid: number
  readonly gid: number
}

function unprivilegedUsers(): User[] {
  try {
    return readFileSync('/etc/passwd', 'utf8')
      .split('\n')
      .map((line) => line.split(':'))
      .filter((fields) => fields.length >= 4)
      .map(([name = '', , uid, gid]) => ({ name, uid: Number(uid), gid: Number(gid) }))
      .filter(({ uid, gid }) => Number.isInteger(uid) && uid > 0 && Number.isInteger(gid))
  } catch (error) {
    if (isCode(error, 'ENOENT', 'EACCES')) return []
    throw error
  }
}

function hasName(): boolean {
  try {
    return userInfo().username !== ''
  } catch (error) {
    if (isCode(error, 'ERR_SYSTEM_ERROR')) return false
    throw error
  }
}
