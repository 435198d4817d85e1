import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, realpathSync, rmSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { PawlError } from '../../domain/error.ts'

/** Where the bundled server keeps its things: all in one folder of the home that only we may enter. */
export interface Layout {
  readonly root: string
  readonly dataDir: string
  readonly socketDir: string
  readonly lockDir: string
  readonly libDir: string
  readonly logFile: string
}

export const port = 5432

/** sockaddr_un holds 104 bytes on macOS and 108 on Linux; beyond that neither side can use the path. */
const longestSocketPath = 100

/** The layout of a home, real paths only, so that two spellings of one home agree on everything derived from it. Creates nothing. */
export function layoutOf(home: string): Layout {
  const root = join(realpathSync(home), 'postgres')
  return {
    root,
    dataDir: join(root, 'data'),
    socketDir: socketDirFor(root),
    lockDir: join(root, 'lock'),
    libDir: join(root, 'lib'),
    logFile: join(root, 'server.log'),
  }
}

export function createLayout(home: string): Layout {
  mkdirSync(home, { recursive: true, mode: 0o700 })
  const layout = layoutOf(home)
  mkdirSync(layout.root, { recursive: true, mode: 0o700 })
  mkdirSync(layout.lockDir, { recursive: true, mode: 0o700 })
  return layout
}

/**
 * The server trusts whoever reaches its socket, so the directory around it is the whole authentication: it must be a real
 * directory, closed to everybody else, and belong to us or to the uid the server runs as. Call it before the first connection:
 * once the name is ours, nobody else can put a server of their own there.
 */
export function claimSocketDir(layout: Layout): void {
  mkdirSync(layout.socketDir, { recursive: true, mode: 0o700 })
  const owners = [process.getuid?.(), statSync(layout.dataDir, { throwIfNoEntry: false })?.uid]
  assertPrivate(layout.socketDir, owners)
}

/** Leaves nothing behind in /tmp. Call it under the lock, with no server running. */
export function dropSocketDir(layout: Layout): void {
  if (!layout.socketDir.startsWith(layout.root)) rmSync(layout.socketDir, { recursive: true, force: true })
}

function assertPrivate(dir: string, owners: readonly (number | undefined)[]): void {
  const found = lstatSync(dir)
  const mode = found.mode & 0o777
  if (found.isDirectory() && owners.includes(found.uid) && mode === 0o700) return
  const what = found.isDirectory()
    ? `belongs to uid ${found.uid} with mode ${mode.toString(8).padStart(4, '0')}`
    : 'is not a directory'
  throw new PawlError(
    'denied',
    `The directory "${dir}" for the database socket ${what}; it must be yours with mode 0700. Remove it or correct it, then start again.`,
  )
}

function socketDirFor(root: string): string {
  const inside = join(root, 'socket')
  if (Buffer.byteLength(join(inside, `.s.PGSQL.${port}`)) <= longestSocketPath) return inside
  // Fixed /tmp, never TMPDIR: every process of this home must come to the same name.
  return `/tmp/pawl-${createHash('sha256').update(root).digest('hex').slice(0, 24)}`
}
