import { existsSync, readFileSync, realpathSync, statSync } from 'node:fs'
import { homedir, userInfo } from 'node:os'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { invalid } from '../../domain/error.ts'
import { looksLikePawlHome } from '../../domain/workspace/credential-paths.ts'
import { markOf } from '../../sandbox/port.ts'
import { credentialsAbove } from './credentials.ts'

/** The home folders of this machine that an agent of ours could read, by their path and by what they are. */
export interface Homes {
  isHome(path: string, mark?: string): boolean
  /** The home at or below that folder, if there is one: below it on the way that its path names, under whatever name the folder is known. */
  atOrBelow(path: string, mark?: string): string | undefined
}

/** Read anew each time: homes come and go while a daemon lives. */
export function knownHomes(): Homes {
  const homes = [...new Set([...ownHomes(), ...(process.getuid?.() === 0 ? homesOfOthers() : [])].map(realOr))]
  const byMark = new Map<string, string>()
  const byPath = new Map<string, string>()
  const own = new Set<string>()
  for (const home of homes) {
    const mark = markAt(home)
    if (mark !== undefined) own.add(mark)
    own.add(home)
    for (let folder = home; ; folder = dirname(folder)) {
      const above = markAt(folder)
      if (above !== undefined && !byMark.has(above)) byMark.set(above, home)
      if (!byPath.has(folder)) byPath.set(folder, home)
      if (folder === dirname(folder)) break
    }
  }
  for (const folder of ['/', '/home', '/Users', '/root'].map(realOr)) {
    const mark = markAt(folder)
    if (mark !== undefined && !byMark.has(mark)) byMark.set(mark, folder)
    if (!byPath.has(folder)) byPath.set(folder, folder)
  }
  return {
    isHome: (path, mark) => own.has(path) || (mark !== undefined && own.has(mark)),
    atOrBelow: (path, mark) => byPath.get(path) ?? (mark === undefined ? undefined : byMark.get(mark)),
  }
}

/**
 * The one place that decides whether an agent may be let into a folder as a whole, as its workspace or to read: not into somebody's home or a folder above one, nor where
 * keys or Pawl's own files are kept. `allowHome` is a person's word that it is meant; Pawl's own files are for no agent. `path` is a real one, links followed; `mark` is what
 * is there, where the caller has looked already.
 */
export function assertNoHome(
  path: string,
  {
    allowHome = false,
    called,
    mark = markAt(path),
  }: { allowHome?: boolean | undefined; called: string; mark?: string | undefined },
): void {
  const pawlHome = pawlHomeAbove(path)
  if (pawlHome !== undefined)
    throw invalid(
      `The ${called} ${path} ${path === pawlHome ? 'is' : 'lies in'} a home of Pawl, with the tokens and the files of all its tasks; name another folder (--workspace DIR), or take an empty one of the task's own (--scratch).`,
    )
  if (allowHome && path !== '/') return
  const found = knownHomes().atOrBelow(path, mark)
  const keys = found === undefined ? credentialsAbove(path) : undefined
  const why = found !== undefined ? whyHome(path, found) : keys && `lies in ${keys}, where programs keep keys and logins`
  if (why === undefined) return
  throw invalid(
    `The ${called} ${path} ${why}: an agent in it could read what is private there, and change what your other programs run. ${cures(path, called)}`,
  )
}

const whyHome = (path: string, home: string) =>
  path === '/' ? 'is the root of the machine' : path === home ? 'is a home folder' : `holds the home folder ${home}`

function cures(path: string, called: string): string {
  const meant = path === '/' ? '' : ' If you mean it, say --allow-home (allowHome in the API).'
  if (called !== 'workspace') return `Name a folder in it.${meant}`
  return `Name a project folder (--workspace DIR), or take an empty folder of the task's own (--scratch).${meant}`
}

/** The home of Pawl, ours or another, that a folder is or whose own files it is among. The folders of single tasks are workspaces like any other, and so is what people put there. */
function pawlHomeAbove(path: string): string | undefined {
  const isPawlHome = (folder: string) => looksLikePawlHome((name) => existsSync(join(folder, name)))
  if (isPawlHome(path)) return path
  for (let at = path; at !== dirname(at); at = dirname(at)) {
    const name = basename(at)
    const isItsOwn = name === 'workspaces' ? at === path : ownFolders.has(name)
    if (isItsOwn && isPawlHome(dirname(at))) return dirname(at)
  }
  return undefined
}

const ownFolders = new Set([
  ...['attachments', 'backups', 'changes', 'databases', 'guards', 'postgres', 'quarantine', 'recalls', 'recordings'],
  ...['runs', 'sessions', 'shown-skills', 'told', 'users'],
])

/** As the environment says, and as the system does. */
function ownHomes(): string[] {
  return [homedir, () => userInfo().homedir].flatMap((read) => {
    try {
      const home = read()
      return isAbsolute(home) ? [home] : []
    } catch {
      // A user without an entry, as in some containers.
      return []
    }
  })
}

/** Root reads everybody's. Those of people, and of services with a shell; most other entries name folders of the system. */
function homesOfOthers(): string[] {
  let text: string
  try {
    text = readFileSync('/etc/passwd', 'utf8')
  } catch {
    return []
  }
  return text.split('\n').flatMap((line) => {
    const [, , uid, , , home, shell] = line.split(':')
    const isPerson = /sh$/.test(shell ?? '') || Number(uid) >= 1000
    return home?.startsWith('/') && isPerson && !/\/(nologin|false)$/.test(shell ?? '') && home !== '/nonexistent' ? [home] : []
  })
}

function realOr(path: string): string {
  try {
    return realpathSync.native(path)
  } catch {
    return path
  }
}

function markAt(path: string): string | undefined {
  try {
    return markOf(statSync(path))
  } catch {
    return undefined
  }
}
