import { type Dirent, readdirSync, realpathSync, statSync } from 'node:fs'
import { join } from 'node:path'
import { type HostPath, hostPath, isBelow, isInside, pathIn, type Shown, workspacePath } from '../../domain/base/path.ts'
import { PawlError } from '../../domain/error.ts'
import { type CodePath, codePathMatcher } from '../../domain/workspace/code-paths.ts'
import { looksLikePawlHome } from '../../domain/workspace/credential-paths.ts'
import { foldName } from '../../domain/workspace/path-rules.ts'
import { isAbsence, openDirectory } from '../../sandbox/files/directory-handle.ts'
import { markOf } from '../../sandbox/port.ts'
import { takingTurns } from '../base/turns.ts'
import { foldedNames } from './credentials.ts'
import type { FoundAll } from './find-code.ts'
import { knownHomes } from './homes.ts'

/** What a run is not to see, because it lets somebody in somewhere. */
export interface Cover {
  /** Real paths on the machine; what lies there is covered wherever it would be seen. */
  readonly paths: readonly HostPath[]
  /** Of a workspace: the same, relative to it. */
  readonly inWorkspace: readonly string[]
}

/** Each is a mount. Unlike other masks none of these is ever left out, so a folder with more cannot be worked in. */
const mostCovered = 500

/** Plans what of a workspace is covered. `given` are the sources of mounts: what one of them names is meant to be seen. */
export function coverWorkspace(
  { source, path: seenAs }: Shown,
  found: Pick<FoundAll, 'code'>,
  given: readonly HostPath[],
): Cover {
  // The profile may name it by the user's own folder, of which this may be a copy.
  const isGiven = (path: string) => [hostPath(seenAs), source].some((top) => given.includes(pathIn(top, workspacePath(path))))
  const inWorkspace = found.code.flatMap(({ is, path }) => (is === 'secret' && !isGiven(path) ? [path] : []))
  assertFew(seenAs, inWorkspace.length)
  const real = inWorkspace.map((path) => realPathIfAny(join(source, path)))
  // What a link leads to elsewhere is not seen there anyway. One that leads to the workspace itself hides nothing of it.
  return { inWorkspace, paths: real.filter((path) => path !== undefined && isBelow(source, path)) as HostPath[] }
}

/** Mounts can be larger than anybody wants to wait for, and lie on slow disks. */
const patienceMs = 3_000
const deepest = 24

/** Looks for credentials below the sources of mounts, nearest the top first, and names the mounts that were too large to be looked through. */
export async function coverMounts(
  sources: readonly HostPath[],
  codePaths: readonly CodePath[],
): Promise<{ readonly paths: readonly HostPath[]; readonly notLookedThrough: readonly string[] }> {
  const { match } = codePathMatcher(codePaths)
  const homes = knownHomes()
  const covered = new Set<HostPath>()
  const notLookedThrough: string[] = []
  const turn = takingTurns()
  const until = performance.now() + patienceMs
  for (const source of new Set(sources)) {
    const folders = [{ path: source, above: foldedNames(source), depth: 0, homeAt: undefined as number | undefined }]
    for (let folder = folders.shift(); folder; folder = folders.shift()) {
      await turn()
      if (performance.now() > until || folder.depth > deepest) {
        notLookedThrough.push(source)
        break
      }
      const { path, above, depth } = folder
      const [entries, mark] = await look(path)
      if (depth > 0 && looksLikePawlHome((name) => entries.some((entry) => entry.name === name))) {
        covered.add(path)
        continue
      }
      const homeAt = homes.isHome(path, mark) ? above.length : folder.homeAt
      for (const entry of entries) {
        const below = hostPath(join(path, entry.name))
        if (match(entry.name, above, homeAt)?.treatment === 'secret') {
          const real = realPathIfAny(below)
          if (real !== undefined && !isInside(real, source) && !sources.includes(below)) covered.add(real)
        } else if (entry.isDirectory() && entry.name !== 'node_modules')
          folders.push({ path: below, above: [...above, foldName(entry.name)], depth: depth + 1, homeAt })
      }
    }
  }
  assertFew('mounts', covered.size)
  return { paths: [...covered], notLookedThrough }
}

/** For the record of the run: nobody should wonder why a file seems to be empty. */
export const coveredNote = (paths: readonly string[]) =>
  `Covered, because it holds keys, logins or what somebody typed: ${listed(paths)}. The agent sees nothing of it unless a mount names it.`

const mostListed = 40
export const listed = (paths: readonly string[]) =>
  [...paths.slice(0, mostListed), ...(paths.length > mostListed ? [`and ${paths.length - mostListed} more`] : [])].join(', ')

async function look(path: string): Promise<[entries: Dirent[], mark: string | undefined]> {
  try {
    if (!statSync(path).isDirectory()) return [[], undefined]
    const folder = await openDirectory(path)
    if (!folder) return [[], undefined]
    try {
      return [readdirSync(folder.at('.'), { withFileTypes: true }), markOf(await folder.stat())]
    } finally {
      await folder.close()
    }
  } catch (error) {
    // Gone meanwhile, or closed to us.
    if (isAbsence(error) || ['EACCES', 'EPERM'].includes((error as NodeJS.ErrnoException).code ?? '')) return [[], undefined]
    throw error
  }
}

function assertFew(where: string, count: number): void {
  if (count > mostCovered)
    throw new PawlError(
      'invalid',
      `Of ${where} ${count} files and folders hold keys or logins, and no more than ${mostCovered} can be kept from the agent; name a smaller folder.`,
    )
}

function realPathIfAny(path: string): HostPath | undefined {
  try {
    return hostPath(realpathSync.native(path))
  } catch {
    return undefined
  }
}
