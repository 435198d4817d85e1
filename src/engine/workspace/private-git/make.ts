import { createHash } from 'node:crypto'
import { existsSync, lchownSync, lstatSync, mkdirSync, readdirSync, readFileSync, utimesSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join } from 'node:path'
import { z } from 'zod'
import {
  type HostPath,
  hostPath,
  isBelow,
  isInside,
  type SandboxPath,
  sandboxPath,
  type WorkspacePath,
  workspacePath,
  workspacePathIfAny,
} from '../../../domain/base/path.ts'
import { type DirectoryHandle, inFolder, openDirectory, openIn } from '../../../sandbox/files/directory-handle.ts'
import { inFolderBelow } from '../../../sandbox/files/make-folders.ts'
import { readRegular } from '../../../sandbox/files/read-file.ts'
import type { AgentUser } from '../../../sandbox/process/agent-user.ts'
import { indexGit } from '../git.ts'
import { cleanGitConfig } from '../git-config.ts'
import { type GitIndex, gitlinkMode, indexChanges, nameOf, parseIndex, pathOf } from './git-index.ts'
import { idBytesOf, isHash, type Refs, readRefs, readRefValue, readStates, signatureFor, targetOf, textIn } from './git-state.ts'

/** A git directory that is the agent's own while it works, and the real one that it stands for. */
export const PrivateGit = z.object({
  /** What all work trees of the real one share, and what belongs to this one; the same folder but for a linked worktree. */
  common: z.string().transform(hostPath),
  tree: z.string().transform(hostPath),
  /** Where the agent sees it. */
  path: z.string().transform(sandboxPath),
  /** The agent's. Whatever is in there may be hostile. */
  git: z.string().transform(hostPath),
  /** A folder of ours beside it: what we know of it. */
  known: z.string(),
  /** There was no repository. */
  isNew: z.boolean(),
})
export type PrivateGit = z.infer<typeof PrivateGit>

const Log = z.object({ size: z.number(), digest: z.string() })
const Tree = z.object({
  /** The real folder, and the agent's, relative to its git directory. */
  real: z.string(),
  own: z.string(),
  head: z.string().exactOptional(),
  states: z.record(z.string(), z.string()),
  /** By it is told whether the agent's index was written since; the one it was made from lies beside. */
  indexSignature: z.string().exactOptional(),
})
export type KnownTree = z.infer<typeof Tree>

/** How both were when they were the same. */
const Known = z.object({
  idBytes: z.number(),
  refs: z.record(z.string(), z.string()),
  shallow: z.string().exactOptional(),
  sparse: z.string().exactOptional(),
  logs: z.record(z.string(), Log),
  trees: z.array(Tree),
  /** Of what else it was made. */
  digest: z.string(),
  /** Tracked files that the agent does not see: its git overlooks them. */
  overlooked: z.array(z.string()),
  /** Paths of submodules. */
  gitlinks: z.array(z.string()),
  /** `open`: the agent may have done something. `same`: all of it is in the real one, and the next run may go on with it. `over`: nobody needs it any more. */
  state: z.enum(['open', 'same', 'over']),
})
export type Known = z.infer<typeof Known>

export function readKnown(folder: string): Known | undefined {
  try {
    return Known.parse(JSON.parse(readFileSync(join(folder, 'known.json'), 'utf8')))
  } catch {
    // None, or not whole: then the agent has not started.
    return undefined
  }
}
export const writeKnown = (folder: string, known: Known): void =>
  writeFileSync(join(folder, 'known.json'), JSON.stringify(known), { mode: 0o600 })
export const knownIndex = (folder: string, tree: number): string => join(folder, `${tree}.index`)

/** Why a git directory cannot have a private one, as a part of a sentence. */
export class NoPrivateGit extends Error {}

export interface RealGit extends Pick<PrivateGit, 'common' | 'tree' | 'path'> {
  /** Paths below its work tree that the agent does not see: tracked ones must not count as deleted, others not as new. */
  readonly hidden: readonly WorkspacePath[]
  /** Its settings and hooks are given to the agent as they are. */
  readonly isTrusted: boolean
  /** Where the workspace lies: a linked worktree in it is the agent's too. */
  readonly workspace: SandboxPath
}

/** All of a real git directory that goes into a private one. */
interface Source {
  readonly idBytes: number
  readonly config: string
  readonly refs: Refs
  readonly shallow: string | undefined
  readonly sparse: string | undefined
  readonly exclude: string | undefined
  readonly trees: readonly SourceTree[]
  readonly digest: string
}
interface SourceTree extends Pick<KnownTree, 'real' | 'own' | 'states'> {
  readonly head: string
  readonly index: Buffer | undefined
  readonly indexMs: number
  readonly entries: GitIndex
  /** More files, which are copied as they are. */
  readonly files: Readonly<Record<string, string>>
}

const mostIndexBytes = 1_000_000_000
const mostLogBytes = 64_000_000
const mostHookBytes = 4_000_000
export const mostWorktrees = 64

async function readSource(real: RealGit): Promise<Source> {
  const common = await openDirectory(real.common)
  const tree = real.tree === real.common ? common : await openDirectory(real.tree)
  try {
    if (!common || !tree) throw new NoPrivateGit('a link leads to it')
    const raw = (await textIn(common, 'config')) ?? ''
    const idBytes = idBytesOf(raw)
    if (idBytes === undefined) throw new NoPrivateGit('it does not keep its references in files')
    for (const name of ['objects', 'refs'])
      if (!lstatSync(common.at(name), { throwIfNoEntry: false })?.isDirectory())
        throw new NoPrivateGit(`its "${name}" is no folder`)
    const config = real.isTrusted ? raw : cleanGitConfig(raw).text
    const exclude = await inFolderBelow(common, 'info', (info) => textIn(info, 'exclude'))
    const sparse = await inFolderBelow(tree, 'info', (info) => textIn(info, 'sparse-checkout', 16_000_000))
    const shallow = await textIn(common, 'shallow', 64_000_000)
    const trees = [await readTree(tree, { real: real.tree, own: '', idBytes, isTrusted: real.isTrusted })]
    const others: string[] = []
    await inFolderBelow(common, 'worktrees', async (folder) => {
      for (const id of folder ? readdirSync(folder.at('.')).toSorted().slice(0, mostWorktrees) : []) {
        const path = join(real.common, 'worktrees', id)
        if (path === real.tree || !isWorktreeId(id)) continue
        await inFolderBelow(folder!, id, async (other) => {
          const gitdir = (await textIn(other, 'gitdir'))?.trim()
          if (!other || gitdir === undefined) return
          const isOfAgent = isAbsolute(gitdir) && isBelow(real.workspace, sandboxPath(gitdir))
          const files = { gitdir: `${gitdir}\n`, commondir: '../..\n' }
          const head = readRefValue(await textIn(other, 'HEAD', 4_096))
          if (head === undefined) return
          const own = `worktrees/${id}`
          others.push(`${id} ${head} ${gitdir}`)
          if (!isOfAgent)
            return void trees.push({ real: '', own, head, states: {}, index: undefined, indexMs: 0, entries: new Map(), files })
          const one = await readTree(other, { real: path, own, idBytes, isTrusted: real.isTrusted })
          trees.push({ ...one, files: { ...one.files, ...files } })
        })
      }
    })
    const refs = await readRefs(common)
    // Another folder at the same path is not the one that is mounted over.
    const { dev, ino } = await tree.stat()
    const digest = createHash('sha256')
      .update(JSON.stringify([dev, ino, config, exclude, trees.map(({ files }) => files), others, real.hidden, real.isTrusted]))
      .digest('hex')
    return { idBytes, config, refs, shallow, sparse, exclude, trees, digest }
  } finally {
    if (tree !== common) await tree?.close()
    await common?.close()
  }
}

export const isWorktreeId = (id: string): boolean => /^[\w][\w.-]{0,99}$/.test(id) && !id.endsWith('.lock')

async function readTree(
  tree: DirectoryHandle,
  { idBytes, isTrusted, ...place }: { real: string; own: string; idBytes: number; isTrusted: boolean },
): Promise<SourceTree> {
  const head = readRefValue(await textIn(tree, 'HEAD', 4_096))
  if (head === undefined) throw new NoPrivateGit('its HEAD is not plain')
  // Asked before it is read: git looks again at whatever is younger.
  const indexMs = lstatSync(tree.at('index'), { throwIfNoEntry: false })?.mtimeMs ?? 0
  const index = readRegular(tree, 'index', mostIndexBytes)
  const entries = index ? await parseIndex(index, idBytes) : new Map()
  if (!entries) throw new NoPrivateGit('its index is split, sparse or damaged')
  const more = await textIn(tree, 'config.worktree')
  const files = more === undefined ? {} : { 'config.worktree': isTrusted ? more : cleanGitConfig(more).text }
  return { ...place, head, states: await readStates(tree), index, indexMs, entries, files }
}

/**
 * Makes the agent's own git directory: references, index, logs and cleaned settings are copied, objects are borrowed. Nothing of the agent can reach it before it
 * is mounted. Throws `NoPrivateGit` where that cannot be done.
 */
export async function makePrivateGit(real: RealGit, git: HostPath, known: string): Promise<PrivateGit> {
  const source = await readSource(real)
  makeEmpty(git, known)
  writeFileSync(join(git, 'config'), source.config)
  writeFileSync(join(git, 'packed-refs'), packed(source.refs))
  for (const [name, value] of source.refs) if (!isHash(value)) put(git, name, `${value}\n`)
  if (source.shallow !== undefined) writeFileSync(join(git, 'shallow'), source.shallow)
  if (source.sparse !== undefined) writeFileSync(join(git, 'info/sparse-checkout'), source.sparse)
  const entries = source.trees[0]!.entries
  const overlooked =
    real.hidden.length === 0
      ? []
      : trackedBehind(
          real.hidden.map((path) => workspacePath(asBytes(path))),
          entries,
        )
  const lines = real.hidden.filter((path) => !entries.has(`0\t${asBytes(path)}`))
  const excluded = lines.map((path) => `/${path.replace(/[\\*?[\]#! ]/g, '\\$&')}`)
  writeFileSync(join(git, 'info/exclude'), `${source.exclude ?? ''}\n${excluded.join('\n')}\n`)
  if (real.isTrusted) await copyHooks(real.common, join(git, 'hooks'))
  mkdirSync(join(git, 'borrowed/objects'), { recursive: true })
  writeFileSync(join(git, 'objects/info/alternates'), '../borrowed/objects\n')
  // Behind a link it is not lent.
  const large = await openDirectory(join(real.common, 'lfs/objects'))
  await large?.close()
  if (large) mkdirSync(join(git, 'borrowed/lfs'))
  const trees: KnownTree[] = []
  for (const [number, tree] of source.trees.entries()) {
    const folder = join(git, tree.own)
    mkdirSync(folder, { recursive: true })
    writeFileSync(join(folder, 'HEAD'), `${tree.head}\n`)
    for (const [name, text] of Object.entries({ ...tree.files, ...tree.states })) writeFileSync(join(folder, name), text)
    const { real: place, own, head, states } = tree
    if (!tree.index) {
      trees.push({ real: place, own, head, states })
      continue
    }
    writeFileSync(knownIndex(known, number), tree.index)
    const bytes = own === '' ? await overlooking(tree.index, overlooked, source.idBytes) : tree.index
    writeFileSync(join(folder, 'index'), bytes)
    // By its time git tells what it must look at: never younger than it was.
    const seconds = Math.floor(tree.indexMs) / 1_000
    utimesSync(join(folder, 'index'), seconds, seconds)
    trees.push({ real: place, own, head, states })
  }
  const logs = await copyLogs(real, source, git)
  writeKnown(known, {
    idBytes: source.idBytes,
    refs: Object.fromEntries(source.refs),
    logs,
    trees,
    digest: source.digest,
    overlooked,
    gitlinks: [...entries].flatMap(([key, { mode }]) => (mode === gitlinkMode ? [nameOf(key)] : [])),
    state: 'open',
    ...(source.shallow === undefined ? {} : { shallow: source.shallow }),
    ...(source.sparse === undefined ? {} : { sparse: source.sparse }),
  })
  return { common: real.common, tree: real.tree, path: real.path, git, known, isNew: false }
}

/** For a folder without a repository: `git init` fills it. */
export function makeEmptyGit(place: Pick<PrivateGit, 'common' | 'tree' | 'path' | 'git' | 'known'>): PrivateGit {
  mkdirSync(place.git, { recursive: true, mode: 0o755 })
  mkdirSync(place.known, { recursive: true, mode: 0o700 })
  const digest = ''
  writeKnown(place.known, {
    ...{ idBytes: 20, refs: {}, logs: {}, digest, overlooked: [], gitlinks: [], state: 'open' },
    trees: [{ real: place.tree, own: '', states: {} }],
  })
  return { ...place, isNew: true }
}

/** Gives what was made to the agent's user, and remembers how its indexes look from outside. To be called last. */
export function handOver(made: readonly PrivateGit[], user: AgentUser | undefined): void {
  const isRoot = process.getuid?.() === 0
  const give = (path: string): void => {
    if (user && isRoot) lchownSync(path, user.uid, user.gid)
    if (!lstatSync(path).isDirectory()) return
    for (const name of readdirSync(path)) give(join(path, name))
  }
  // The repositories of submodules lie in the first one.
  for (const { git } of made.filter((one) => !made.some((other) => isBelow(other.git, one.git)))) give(git)
  for (const { git, known } of made) {
    const is = readKnown(known)
    if (is) writeKnown(known, withSignatures(is, git))
  }
}

/** With how the agent's indexes look from outside now. */
export const withSignatures = (known: Known, git: string): Known => ({
  ...known,
  trees: known.trees.map(({ indexSignature: _, ...tree }) => {
    const stat = lstatSync(join(git, tree.own, 'index'), { bigint: true, throwIfNoEntry: false })
    return stat ? { ...tree, indexSignature: signatureFor(stat) } : tree
  }),
})

/** Are the real one and the private one the same still, and everything else of which it was made? */
export async function isInStep(real: RealGit, { known: folder, isNew }: PrivateGit): Promise<boolean> {
  const known = readKnown(folder)
  if (known?.state !== 'same') return false
  if (isNew) return !existsSync(join(real.common, 'HEAD'))
  const source = await readSource(real)
  const isSameTree = async (tree: KnownTree, number: number) => {
    const now = source.trees[number]
    if (!now || now.own !== tree.own || now.head !== tree.head || !isEqual(now.states, tree.states)) return false
    const before = existsSync(knownIndex(folder, number)) ? readFileSync(knownIndex(folder, number)) : undefined
    if (!now.index || !before) return now.index === before
    if (now.index.equals(before)) return true
    const entries = await parseIndex(before, known.idBytes)
    return entries !== undefined && indexChanges(entries, now.entries).size === 0
  }
  const isSame =
    source.digest === known.digest &&
    source.shallow === known.shallow &&
    source.sparse === known.sparse &&
    isEqual(Object.fromEntries(source.refs), known.refs) &&
    source.trees.length === known.trees.length
  for (const [number, tree] of known.trees.entries()) if (!isSame || !(await isSameTree(tree, number))) return false
  return isSame
}

const asBytes = (path: string) => Buffer.from(path).toString('latin1')

/** Tracked files at these paths or below them, but for those that git overlooks already. */
const trackedBehind = (hidden: readonly WorkspacePath[], entries: GitIndex): string[] =>
  [...entries].flatMap(([key, { isSkipped }]) => {
    if (isSkipped || !key.startsWith('0')) return []
    const path = workspacePathIfAny(pathOf(key))
    return path !== undefined && hidden.some((one) => isInside(one, path)) ? [path] : []
  })

const isEqual = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>) =>
  Object.keys(one).length === Object.keys(other).length && Object.entries(one).every(([name, value]) => other[name] === value)

function makeEmpty(git: string, known: string): void {
  mkdirSync(known, { recursive: true, mode: 0o700 })
  for (const path of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags', 'info'])
    mkdirSync(join(git, path), { recursive: true, mode: 0o755 })
}

function put(root: string, path: string, text: string | Buffer): void {
  mkdirSync(dirname(join(root, path)), { recursive: true })
  writeFileSync(join(root, path), text)
}

/** All in one file: thousands of them cost nothing, and what the agent changes lies apart. */
function packed(refs: Refs): string {
  const lines = [...refs].flatMap(([name, value]) => (isHash(value) ? [{ name: Buffer.from(name), value }] : []))
  return ['# pack-refs with: sorted ']
    .concat(lines.toSorted((a, b) => Buffer.compare(a.name, b.name)).map(({ name, value }) => `${value} ${name}`))
    .join('\n')
    .concat('\n')
}

async function overlooking(index: Buffer, paths: readonly string[], idBytes: number): Promise<Buffer> {
  if (paths.length === 0) return index
  const input = Buffer.from(paths.map((path) => `${path}\0`).join(''), 'latin1')
  return indexGit({ bytes: index, isSha256: idBytes === 32 }, ['--skip-worktree', '-z', '--stdin'], input)
}

/** Of HEAD, the branches that are checked out and the stash. There may be thousands of others; those begin anew inside. */
async function copyLogs(real: RealGit, source: Source, git: string): Promise<Known['logs']> {
  const found: { readonly folder: string; readonly path: string; readonly to: string }[] = []
  const shared = ['refs/stash', ...source.trees.flatMap(({ head, real: place }) => (place === '' ? [] : (targetOf(head) ?? [])))]
  for (const name of new Set(shared)) found.push({ folder: real.common, path: `logs/${name}`, to: join('logs', name) })
  for (const { real: place, own } of source.trees)
    if (place !== '') found.push({ folder: place, path: 'logs/HEAD', to: join(own, 'logs/HEAD') })
  const logs: Known['logs'] = {}
  for (const { folder, path, to } of found) {
    // A link among these folders would show the agent a file of somebody else's.
    const bytes = await inFolder(folder, (root) =>
      inFolderBelow(root, dirname(path), async (below) => below && readRegular(below, basename(path), mostLogBytes)),
    )
    if (!bytes) continue
    put(git, to, bytes)
    logs[to] = { size: bytes.length, digest: digestOf(bytes) }
  }
  return logs
}

export const digestOf = (bytes: Buffer): string => createHash('sha256').update(bytes).digest('hex')

async function copyHooks(common: string, to: string): Promise<void> {
  const hooks = await openDirectory(join(common, 'hooks'))
  if (!hooks) return
  try {
    mkdirSync(to, { recursive: true })
    for (const name of readdirSync(hooks.at('.'))) {
      const bytes = name.includes('\ufffd') ? undefined : readRegular(hooks, name, mostHookBytes)
      const mode = bytes && lstatSync(hooks.at(name), { throwIfNoEntry: false })?.mode
      if (bytes && mode !== undefined) writeFileSync(join(to, name), bytes, { mode: mode & 0o777 })
    }
  } finally {
    await hooks.close()
  }
}

/** The git directories of submodules, relative to that of the repository they belong to. */
export async function modulesOf(common: string): Promise<string[]> {
  const modules: string[] = []
  const root = await openDirectory(common)
  const walk = async (folder: DirectoryHandle, path: string, depth: number): Promise<void> => {
    for (const entry of readdirSync(folder.at('.'), { withFileTypes: true })) {
      if (!entry.isDirectory() || entry.name.includes('\ufffd') || modules.length >= 64) continue
      const opened = await openIn(folder, entry.name)
      if (!opened) continue
      const inside = opened
      try {
        const names = new Set(readdirSync(inside.at('.')))
        const below = join(path, entry.name)
        if (!(names.has('HEAD') && names.has('objects') && names.has('refs'))) {
          if (depth < 8) await walk(inside, below, depth + 1)
          continue
        }
        modules.push(below)
        await inFolderBelow(inside, 'modules', async (more) => {
          if (more) await walk(more, join(below, 'modules'), 0)
        })
      } finally {
        await inside.close()
      }
    }
  }
  try {
    if (root)
      await inFolderBelow(root, 'modules', async (folder) => {
        if (folder) await walk(folder, 'modules', 0)
      })
  } finally {
    await root?.close()
  }
  return modules
}
