import { createHash, hash as digest } from 'node:crypto'
import { closeSync, constants, type Dirent, fstatSync, openSync, readdirSync, readlinkSync, readSync } from 'node:fs'
import { isAbsence, noFollow } from '../../sandbox/files/directory-handle.ts'
import { takingTurns } from '../base/turns.ts'
import type { WalledGit } from './git.ts'
import { openWorkspace } from './same-place.ts'

/** What a workspace holds, as one number. */
export interface TreeHash {
  /** Null if the tree is too large to be read in time; `why` says so then. */
  readonly hash: string | null
  /** Files and links that count. */
  readonly files: number
  readonly bytes: number
  readonly why?: string | undefined
}

export interface TreeHashOptions {
  /** Of Pawl: a folder in it may lie behind a link of the user's. */
  readonly home?: string | undefined
  /** Asked for what a repository leaves out. Without it, and where there is no repository, everything counts. */
  readonly git?: WalledGit | undefined
  readonly signal?: AbortSignal | undefined
  readonly limits?: TreeLimits
}

export interface TreeLimits {
  readonly files: number
  readonly bytes: number
  readonly ms: number
}

const usual: TreeLimits = { files: 500_000, bytes: 16_000_000_000, ms: 60_000 }

/**
 * The same for the same paths, contents, links and executable files, on every machine. What belongs to git itself never counts, and in a repository neither does what
 * it ignores: checks build and cache there. A `.gitignore` always counts, so that nothing is hidden without a trace. Folders count by what is in them;
 * of the permissions only "executable" does, because the others differ from user to user. Goes from handle to handle, so that no link leads out.
 */
export async function treeHash(root: string, options: TreeHashOptions = {}): Promise<TreeHash> {
  const limits = options.limits ?? usual
  const ignored = options.git ? await ignoredIn(root, options.git) : new Set<string>()
  const until = performance.now() + limits.ms
  const turn = takingTurns()
  const whole = createHash('sha256')
  let [files, bytes] = [0, 0]

  const walk = async (here: Buffer, above: Buffer, depth: number): Promise<void> => {
    const entries: Dirent<Buffer>[] = readdirSync(here, { encoding: 'buffer', withFileTypes: true })
    for (const entry of entries.sort((one, other) => Buffer.compare(one.name, other.name))) {
      await turn()
      options.signal?.throwIfAborted()
      // Folders alone are no bytes, and there may be millions of them.
      if (performance.now() > until) throw new TooLarge(`reading it takes longer than ${limits.ms} ms`)
      if (entry.name.equals(gitFolder)) continue
      const path = above.length === 0 ? entry.name : Buffer.concat([above, slash, entry.name])
      const at = Buffer.concat([here, entry.name])
      if (entry.isDirectory()) {
        if (ignored.has(`${path.toString('latin1')}/`)) continue
        if (depth >= deepest) throw new TooLarge(`folders lie more than ${deepest} deep`)
        const inside = opened(at, constants.O_DIRECTORY)
        if (inside === undefined) continue
        try {
          const below = process.platform === 'linux' ? Buffer.from(`/proc/self/fd/${inside}/`) : Buffer.concat([at, slash])
          await walk(below, path, depth + 1)
        } finally {
          closeSync(inside)
        }
        continue
      }
      if (ignored.has(path.toString('latin1')) && !entry.name.equals(gitIgnore)) continue
      if (++files > limits.files) throw new TooLarge(`there are more than ${limits.files} files`)
      const content = entry.isSymbolicLink() ? linkAt(at) : entry.isFile() ? await readAt(at) : ['other']
      whole.update(JSON.stringify([path.toString('latin1'), ...content]))
    }
  }

  /** Of what lies there: whether it is executable, and a digest. */
  const readAt = async (at: Buffer): Promise<readonly string[]> => {
    const file = opened(at, constants.O_NONBLOCK)
    if (file === undefined) return ['unreadable']
    try {
      const stat = fstatSync(file)
      // Something else was put there since the folder was read.
      if (!stat.isFile()) return ['other']
      const kind = (stat.mode & 0o100) === 0 ? 'file' : 'program'
      let size = readSync(file, buffer, 0, buffer.length, null)
      if (size < buffer.length) {
        count(size)
        return [kind, digest('sha256', buffer.subarray(0, size), 'hex')]
      }
      const large = createHash('sha256')
      for (; size > 0; size = readSync(file, buffer, 0, buffer.length, null)) {
        large.update(buffer.subarray(0, size))
        count(size)
        await turn()
        options.signal?.throwIfAborted()
      }
      return [kind, large.digest('hex')]
    } finally {
      closeSync(file)
    }
  }
  const count = (size: number) => {
    bytes += size
    if (bytes > limits.bytes) throw new TooLarge(`there are more than ${limits.bytes} bytes`)
    if (performance.now() > until) throw new TooLarge(`reading it takes longer than ${limits.ms} ms`)
  }

  // Each call has its own: others may be at work while we give them their turn.
  const buffer = Buffer.allocUnsafe(256 * 1024)
  const top = await openWorkspace(root, options.home)
  if (!top) return { hash: null, files: 0, bytes: 0, why: 'The workspace is gone, or a link by now.' }
  try {
    await walk(Buffer.from(top.at('')), Buffer.alloc(0), 0)
    return { hash: whole.digest('hex'), files, bytes }
  } catch (error) {
    if (!(error instanceof TooLarge)) throw error
    return { hash: null, files, bytes, why: `The workspace is too large to be hashed: ${error.message}.` }
  } finally {
    await top.close()
  }
}

const gitFolder = Buffer.from('.git')
const gitIgnore = Buffer.from('.gitignore')
const slash = Buffer.from('/')
/** The handles on the way down stay open. */
const deepest = 200

class TooLarge extends Error {}

/** Undefined if it is not there, not of that kind, or not ours to read. */
function opened(at: Buffer, kind: number): number | undefined {
  try {
    return openSync(at, constants.O_RDONLY | noFollow | kind)
  } catch (error) {
    if (isAbsence(error) || (error as { code?: string }).code === 'EACCES') return undefined
    throw error
  }
}

function linkAt(at: Buffer): readonly string[] {
  try {
    return ['link', readlinkSync(at, { encoding: 'latin1' })]
  } catch (error) {
    if (isAbsence(error) || (error as { code?: string }).code === 'EINVAL') return ['other']
    throw error
  }
}

/** More than this is not listed: then everything counts. */
const mostListed = 900_000

/** What the repository leaves out, folders with a slash at their end; by bytes, as the walk names them. */
async function ignoredIn(root: string, git: WalledGit): Promise<ReadonlySet<string>> {
  if (!hasRepository(root)) return new Set()
  // Not by `.git/info/exclude`, which does not count and which the agent may write.
  const listed = await git(['ls-files', '-z', '--others', '--ignored', '--exclude-per-directory=.gitignore', '--directory'])
  if (listed === undefined || listed.length > mostListed) return new Set()
  return new Set(listed.split('\0').map((path) => Buffer.from(path).toString('latin1')))
}

function hasRepository(root: string): boolean {
  const found = opened(Buffer.from(`${root}/.git`), constants.O_NONBLOCK)
  if (found !== undefined) closeSync(found)
  return found !== undefined
}
