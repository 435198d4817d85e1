import { existsSync, lstatSync, readdirSync, readFileSync, renameSync, rmdirSync, writeFileSync } from 'node:fs'
import { basename, dirname, isAbsolute, join, relative } from 'node:path'
import { fp } from '../../../base/failpoint.ts'
import { type HostPath, relativeTo, type SandboxPath, sandboxPath } from '../../../domain/base/path.ts'
import { messageOf, PawlError } from '../../../domain/error.ts'
import { type DirectoryHandle, isThere, openDirectory, openIn } from '../../../sandbox/files/directory-handle.ts'
import { inFolderBelow, inMadeFolder } from '../../../sandbox/files/make-folders.ts'
import { readRegular } from '../../../sandbox/files/read-file.ts'
import { removeEntry } from '../../../sandbox/files/remove-tree.ts'
import { indexGit } from '../git.ts'
import { cleanGitConfig, withoutWorktree } from '../git-config.ts'
import {
  type GitIndex,
  gitlinkMode,
  type IndexEntry,
  indexChanges,
  isSameEntry,
  nameOf,
  parseIndex,
  pathOf,
} from './git-index.ts'
import {
  filesBelow,
  hashesIn,
  idBytesOf,
  isHash,
  isRefName,
  type LogLine,
  mostPackedRefsBytes,
  type Refs,
  type RefValue,
  readLog,
  readRefs,
  readRefValue,
  readStates,
  signatureFor,
  targetOf,
  textIn,
  workUnderWay,
} from './git-state.ts'
import { bringLargeFiles, type NewObjects, openNewObjects } from './import-objects.ts'
import {
  digestOf,
  isWorktreeId,
  type Known,
  type KnownTree,
  knownIndex,
  mostWorktrees,
  type PrivateGit,
  readKnown,
  withSignatures,
  writeKnown,
} from './make.ts'
import { releaseLocks, removeEmpty, replaceFile } from './replace-file.ts'

export interface BringPlace {
  readonly run: string
  /** Where the files of the workspace are, and what the agent calls the place. */
  readonly root: HostPath
  readonly workspace: SandboxPath
  /** Whoever began to bring it back may have been killed. */
  readonly wasCut?: boolean | undefined
}

/** What is not in the real repository, in sentences. None: all of it is. */
export type NotBrought = readonly string[]

/**
 * Brings what the agent did in its own git directory into the real one. Nothing of the agent may write meanwhile. Objects, references, index and HEAD are read by
 * readers that believe nothing, and written as git writes them, one after the other; each step looks whether it was done already, so that whoever finds half of it goes on.
 * What the owner changed meanwhile is never overwritten: the agent's version is kept under `refs/pawl/<run>/`.
 */
export async function bringGitBack(git: PrivateGit, place: BringPlace): Promise<NotBrought> {
  const known = readKnown(git.known)
  // The agent has not started.
  if (!known) return []
  const own = await openDirectory(git.git)
  if (!own) return [`What git did in ${git.path} is lost: ${git.git} is gone.`]
  let common: DirectoryHandle | undefined
  try {
    const begun = git.isNew ? await beginReal(own, git) : known
    if (!begun) {
      writeKnown(git.known, { ...known, state: 'same' })
      return []
    }
    common = await openDirectory(git.common)
    if (!common) return [`What git did in ${git.path} is kept in ${git.git}: ${git.common} is gone.`]
    if (place.wasCut) await releaseLocks(common)
    const bringing = new Bringing({ git, place, known: { ...known, ...begun }, own, common })
    await bringing.bring()
    return bringing.left
  } catch (error) {
    if (!(error instanceof PawlError)) throw error
    return [`What git did in ${git.path} is kept in ${git.git}: ${messageOf(error)}`]
  } finally {
    await common?.close()
    await own.close()
  }
}

/** Makes a repository where there was none, with settings of ours, if the agent has made one. */
async function beginReal(own: DirectoryHandle, { common }: PrivateGit): Promise<Pick<Known, 'idBytes'> | undefined> {
  const head = readRefValue(await textIn(own, 'HEAD', 4_096))
  const config = await textIn(own, 'config')
  if (head === undefined || config === undefined || !isThere(own, 'objects')) return undefined
  const idBytes = idBytesOf(config)
  if (idBytes === undefined) throw new PawlError('unsupported', 'it does not keep its references in files.')
  const parent = await openDirectory(dirname(common))
  if (!parent) throw new PawlError('conflict', `${dirname(common)} is gone.`)
  try {
    const name = basename(common)
    if (!isThere(parent, name) || removeEmptyFolder(parent, name)) {
      await removeEntry(parent, newName)
      await inMadeFolder(parent, newName, async (folder) => {
        if (!folder) return
        for (const path of ['objects/info', 'objects/pack', 'refs/heads', 'refs/tags'])
          await inMadeFolder(folder, path, async () => undefined)
        // Where the files lie is nothing that settings of the agent's may say.
        const clean = withoutWorktree(cleanGitConfig(config).text)
        await replaceFile(folder, 'config', Buffer.from(clean))
        await replaceFile(folder, 'HEAD', Buffer.from(`${targetOf(head) === undefined ? 'ref: refs/heads/main' : head}\n`))
      })
      renameSync(parent.at(newName), parent.at(name))
    }
    return { idBytes }
  } finally {
    await parent.close()
  }
}

const newName = '.pawl-git'

/** Our own stub, say. */
function removeEmptyFolder(parent: DirectoryHandle, name: string): boolean {
  try {
    rmdirSync(parent.at(name))
    return true
  } catch {
    return false
  }
}

/** What one work tree of the repository has new. */
interface TreeChange {
  readonly number: number
  readonly tree: KnownTree
  /** HEAD of the agent, and of the owner by now. */
  readonly head: RefValue
  readonly realHead: RefValue | undefined
  readonly states: Readonly<Record<string, string>>
  /** Entries of the index that are different, with what is there now. */
  readonly index: ReadonlyMap<string, IndexEntry | undefined>
  readonly realIndex: Buffer | undefined
  readonly realEntries: GitIndex
  readonly log: readonly LogLine[]
  isKept: boolean
  why: string
}

interface NewLog {
  readonly lines: readonly LogLine[]
  /** It was written anew. */
  readonly isWhole: boolean
}

interface RefChange {
  readonly name: string
  readonly from: RefValue | undefined
  readonly to: RefValue | undefined
  /** Where it goes instead. */
  aside?: string
}

const emptyIndex: GitIndex = new Map()
const mostIndexBytes = 1_000_000_000
const mostLogBytes = 64_000_000
/** Changed by the agent's git for itself, or with a power over what others see. */
const notBrought = /^refs\/(bisect|rewritten|worktree|pawl|prefetch|replace)\//
const mostKnown = 500
/** What an agent may have more of than the repository that it was given: all of it is read and compared between the turns of everybody else. */
const mostOwnPackedBytes = 16_000_000
const longestRefLine = 400
const mostChangedRefs = 20_000
const mostNewShallowBytes = 4_000_000
const mostNewEntries = 1_000_000
const mostOwnIndexBytes = 300_000_000
/** Of one log, and of all. */
const mostNewLogBytes = 16_000_000
const mostNewLogsBytes = 64_000_000

class Bringing {
  readonly left: string[] = []
  private readonly git: PrivateGit
  private readonly place: BringPlace
  private readonly known: Known
  private readonly own: DirectoryHandle
  private readonly common: DirectoryHandle
  private realRefs: Refs = new Map()

  constructor(of: { git: PrivateGit; place: BringPlace; known: Known; own: DirectoryHandle; common: DirectoryHandle }) {
    this.git = of.git
    this.place = of.place
    this.known = of.known
    this.own = of.own
    this.common = of.common
  }

  async bring(): Promise<void> {
    const { known, own } = this
    if (!['HEAD', 'objects', 'refs'].every((name) => isThere(own, name))) {
      this.say(`${this.git.path} was removed inside; the real one is as it was.`)
      this.end(known)
      return
    }
    const ownRefs = await readRefs(own, mostOwnPackedBytes + Object.keys(known.refs).length * longestRefLine)
    const changed = this.refChanges(ownRefs)
    if (changed.length > mostChangedRefs)
      throw new PawlError(
        'invalid',
        `${changed.length} references are new or different, more than the ${mostChangedRefs} that are brought back.`,
      )
    const logs = await this.newLogs()
    const trees = await this.treeChanges(logs)
    const shallow = await this.newShallow()
    if (changed.length + logs.size + trees.length + shallow.length === 0) {
      await this.extras()
      this.end(known)
      return
    }
    this.realRefs = await readRefs(this.common)
    const config = (await textIn(this.common, 'config')) ?? ''
    const objects = await openNewObjects(own, this.common, {
      folder: join(this.git.known, 'objects'),
      realObjects: join(this.git.common, 'objects'),
      isSha256: known.idBytes === 32,
      isPartial: /partialclone|promisor/i.test(config),
      shallow: [(await textIn(this.common, 'shallow')) ?? '', ...shallow.map((line) => `${line}\n`)].join(''),
    })
    try {
      await this.decide(changed, trees)
      const types = await this.bringObjects(objects, { changed, trees, logs, shallow })
      await fp('git.objects')
      await this.writeShallow(shallow, types)
      await this.writeRefs(changed, logs, types)
      await fp('git.refs')
      for (const tree of trees) await this.writeTree(tree, types)
      await this.extras()
      await fp('git.trees')
      this.end(await this.knownNow())
    } finally {
      await objects.close()
    }
  }

  private say(sentence: string): void {
    if (this.left.length < 20) this.left.push(sentence)
  }

  private refChanges(ownRefs: Refs): RefChange[] {
    const before = this.known.refs
    const changes: RefChange[] = []
    for (const name of Object.keys(before)) if (!ownRefs.has(name)) changes.push({ name, from: before[name], to: undefined })
    for (const [name, to] of ownRefs) if (before[name] !== to) changes.push({ name, from: before[name], to })
    const refused = changes.filter(({ name }) => notBrought.test(name))
    const replaced = refused.filter(({ name }) => name.startsWith('refs/replace/'))
    if (replaced.length > 0) this.say(`${replaced.length} replacements of objects (refs/replace) were not brought back.`)
    return changes.filter((change) => !refused.includes(change))
  }

  /** By the path of a log, the lines that are new in it; `whole` if it was written anew. */
  private async newLogs(): Promise<Map<string, NewLog>> {
    const logs = new Map<string, NewLog>()
    let newBytes = 0
    let isCut = false
    const add = async (path: string, folder: DirectoryHandle, name: string) => {
      const before = this.known.logs[path]
      isCut ||= newBytes > mostNewLogsBytes
      if (isCut) return
      const bytes = readRegular(folder, name, mostNewLogBytes + (before?.size ?? 0))
      if (!bytes || (before?.size === bytes.length && before.digest === digestOf(bytes))) return
      const goesOn =
        before === undefined || (bytes.length > before.size && digestOf(bytes.subarray(0, before.size)) === before.digest)
      // Of all logs only that of the stash is taken from the middle: it is the list of what was put away.
      if (!goesOn && path !== stashLog) return
      const added = bytes.subarray(goesOn ? (before?.size ?? 0) : 0)
      newBytes += added.length
      const lines = await readLog(added)
      if (lines.length > 0 || !goesOn) logs.set(path, { lines, isWhole: !goesOn })
    }
    await filesBelow(this.own, 'logs/refs', async (file, folder, name) => {
      if (isRefName(`refs/${file}`) && !notBrought.test(`refs/${file}`)) await add(`logs/refs/${file}`, folder, name)
    })
    for (const { own, real } of this.known.trees)
      if (real !== '')
        await inFolderBelow(this.own, join(own, 'logs'), async (folder) => folder && add(join(own, 'logs/HEAD'), folder, 'HEAD'))
    if (isCut) this.say(`Not all logs of references in ${this.git.path} were brought back: they are too large.`)
    return logs
  }

  private async newShallow(): Promise<string[]> {
    const text = await textIn(this.own, 'shallow', mostNewShallowBytes + (this.known.shallow?.length ?? 0))
    if (text === undefined || text === this.known.shallow) return []
    const before = new Set(this.known.shallow?.split('\n'))
    return text.split('\n').filter((line) => isHash(line) && !before.has(line))
  }

  private async treeChanges(logs: Map<string, NewLog>): Promise<TreeChange[]> {
    const changes: TreeChange[] = []
    for (const [number, tree] of (await this.allTrees()).entries()) {
      if (tree.real === '') continue
      const change = await inFolderBelow(this.own, tree.own, async (folder) => {
        const log = logs.get(join(tree.own, 'logs/HEAD'))
        return folder && (await this.treeChange(folder, { tree, number, log: log?.isWhole ? [] : (log?.lines ?? []) }))
      })
      if (change) changes.push(change)
    }
    return changes
  }

  /** With those that the agent made, of which both sides say that they belong together. */
  private async allTrees(): Promise<KnownTree[]> {
    const trees = [...this.known.trees]
    await inFolderBelow(this.own, 'worktrees', async (folder) => {
      for (const id of folder ? readdirSync(folder.at('.')) : []) {
        const own = `worktrees/${id}`
        if (!isWorktreeId(id) || trees.some((tree) => tree.own === own)) continue
        if (trees.length > mostWorktrees) {
          this.say(`Not all worktrees of ${this.git.path} were brought back: there are more than ${mostWorktrees}.`)
          break
        }
        if ((await worktreeIn(this.own, id, this.git, this.place)) === undefined) continue
        const real = join(this.git.common, own)
        trees.push({ real, own, states: {} })
      }
    })
    return trees
  }

  private async treeChange(
    own: DirectoryHandle,
    { tree, number, log }: Pick<TreeChange, 'tree' | 'number' | 'log'>,
  ): Promise<TreeChange | undefined> {
    const head = readRefValue(await textIn(own, 'HEAD', 4_096))
    const isNew = tree.head === undefined && tree.own !== ''
    if (head === undefined || (targetOf(head) !== undefined && !targetOf(head)!.startsWith('refs/heads/'))) {
      this.say(`HEAD in ${this.git.path} is not plain and was not brought back.`)
      return undefined
    }
    const states = await readStates(own)
    const isSameState = same(states, tree.states)
    const stat = lstatSync(own.at('index'), { bigint: true, throwIfNoEntry: false })
    const isIndexSame = (stat && signatureFor(stat)) === tree.indexSignature
    const index = isIndexSame || !stat ? emptyIndex : await this.ownChanges(own, tree, await this.entriesBefore(number))
    const underWay = workUnderWay(own)
    for (const what of underWay)
      this.say(
        `In ${this.git.path} ${what} was under way. Its plan was not brought back, because it may hold commands; HEAD is where it had come to. "git switch" leads back to a branch.`,
      )
    if (!isNew && head === tree.head && isSameState && index.size + log.length === 0) return undefined
    const real = await openDirectory(tree.real)
    try {
      const realIndex = real && readRegular(real, 'index', mostIndexBytes)
      const realEntries = realIndex ? await parseIndex(realIndex, this.known.idBytes) : emptyIndex
      const change = { number, tree, head, states, index, log, realIndex, isKept: false, why: '' }
      return {
        ...change,
        realHead: real ? readRefValue(await textIn(real, 'HEAD', 4_096)) : undefined,
        realEntries: realEntries ?? emptyIndex,
        ...(realEntries ? {} : { isKept: true, why: 'its index cannot be read' }),
      }
    } finally {
      await real?.close()
    }
  }

  private async knownEntries(number: number): Promise<GitIndex> {
    const file = knownIndex(this.git.known, number)
    return (existsSync(file) ? await parseIndex(readFileSync(file), this.known.idBytes) : undefined) ?? emptyIndex
  }

  private async ownChanges(
    own: DirectoryHandle,
    tree: KnownTree,
    before: GitIndex,
  ): Promise<ReadonlyMap<string, IndexEntry | undefined>> {
    const bytes = readRegular(own, 'index', mostOwnIndexBytes)
    const after = bytes && (await parseIndex(bytes, this.known.idBytes, mostNewEntries + before.size))
    if (!after) {
      this.say(`The index in ${this.git.path} cannot be read and was not brought back; "git reset" makes it anew.`)
      return emptyIndex
    }
    const overlooked = new Set(tree.own === '' ? this.known.overlooked.map((path) => `0\t${path}`) : [])
    const changes = new Map(indexChanges(before, after))
    const links: string[] = []
    for (const [key, entry] of changes) {
      const was = before.get(key)
      if (entry && was && overlooked.has(key) && isSameEntry({ ...entry, isSkipped: was.isSkipped }, was)) changes.delete(key)
      if (entry?.mode === gitlinkMode && was?.mode !== gitlinkMode) {
        links.push(nameOf(key))
        changes.delete(key)
      }
    }
    if (links.length > 0)
      this.say(
        `New submodules were not brought back, because git would go into them: ${some(links)}. "git add" or "git submodule add" takes them up.`,
      )
    return changes
  }

  /** What of it would overwrite something of the owner's. */
  private async decide(changed: RefChange[], trees: TreeChange[]): Promise<void> {
    const elsewhere = await this.branchesElsewhere()
    const real = this.realRefs
    const keep = (change: RefChange, why: string) => {
      change.aside = `refs/pawl/${this.place.run}/${change.name.slice('refs/'.length)}`
      if (change.to !== undefined) this.say(`${change.name} was not moved, because ${why}: the agent's is ${change.aside}.`)
      else this.say(`${change.name} was not removed, because ${why}.`)
    }
    const isMoved = (change: RefChange) => {
      const now = real.get(change.name)
      if (now === change.to) return true
      if (now !== change.from) keep(change, 'somebody else moved it meanwhile')
      else if (elsewhere.has(change.name)) keep(change, 'another worktree is on it')
      return change.aside !== undefined
    }
    const removed = new Set(changed.flatMap((change) => (change.to === undefined && !isMoved(change) ? [change.name] : [])))
    const inTheWay = namesInTheWay([...real.keys()].filter((name) => !removed.has(name)))
    for (const change of changed)
      if (change.to !== undefined && !isMoved(change) && inTheWay(change.name)) keep(change, 'another reference is in its place')
    for (const tree of trees) {
      const isHeadMoved = tree.realHead !== undefined && tree.realHead !== tree.tree.head && tree.realHead !== tree.head
      const onBranch = changed.find(({ name, aside }) => aside !== undefined && name === targetOf(tree.head))
      const before = tree.index.size === 0 ? emptyIndex : await this.entriesBefore(tree.number)
      const theirs = [...tree.index].filter(([key, entry]) => {
        const now = tree.realEntries.get(key)
        return !isSameEntry(now, entry) && !isSameEntry(now, before.get(key))
      })
      if (isHeadMoved && tree.tree.head !== undefined) this.keepTree(tree, 'another branch was checked out meanwhile')
      else if (onBranch) this.keepTree(tree, `${onBranch.name} was not moved`)
      else if (theirs.length > 0)
        this.keepTree(tree, `something else was staged meanwhile (${some(theirs.map(([key]) => nameOf(key)))})`)
      if (!tree.isKept) continue
      const current = changed.find(({ name, aside }) => aside === undefined && name === targetOf(tree.realHead))
      if (current && real.get(current.name) !== current.to) keep(current, tree.why)
      if (isHash(tree.head) && tree.head !== tree.tree.head) {
        const name = tree.tree.own === '' ? 'HEAD' : `${tree.tree.own}/HEAD`
        changed.push({ name: `refs/${name}`, from: undefined, to: tree.head, aside: `refs/pawl/${this.place.run}/${name}` })
      }
    }
  }

  private keepTree(tree: TreeChange, why: string): void {
    tree.isKept = true
    tree.why = why
    this.say(`HEAD and index of ${this.git.path} stay as they are, because ${why}.`)
  }

  private readonly befores = new Map<number, GitIndex>()
  /** Reading them takes its time, and mostly nobody asks. */
  private async entriesBefore(number: number): Promise<GitIndex> {
    const known = this.befores.get(number) ?? (await this.knownEntries(number))
    this.befores.set(number, known)
    return known
  }

  /** Branches that a work tree is on which the agent does not see. */
  private async branchesElsewhere(): Promise<Set<string>> {
    const ours = new Set(this.known.trees.map(({ real }) => real))
    const heads = new Set<string>()
    const add = async (folder: DirectoryHandle | undefined) => {
      const target = targetOf(readRefValue(await textIn(folder, 'HEAD', 4_096)))
      if (target !== undefined) heads.add(target)
    }
    if (!ours.has(this.git.common)) await add(this.common)
    await inFolderBelow(this.common, 'worktrees', async (folder) => {
      for (const id of folder ? readdirSync(folder.at('.')) : [])
        if (!ours.has(join(this.git.common, 'worktrees', id))) await inFolderBelow(folder!, id, add)
    })
    return heads
  }

  /** Copies what all of it needs, leaves out what is not there, and answers what is. */
  private async bringObjects(
    objects: NewObjects,
    {
      changed,
      trees,
      logs,
      shallow,
    }: {
      changed: RefChange[]
      trees: TreeChange[]
      logs: Map<string, NewLog>
      shallow: string[]
    },
  ): Promise<Map<string, string>> {
    const ids = new Set<string>(shallow)
    for (const { to } of changed) if (isHash(to)) ids.add(to)
    for (const { lines } of logs.values()) for (const { to } of lines) ids.add(to)
    for (const { head, states, index } of trees) {
      if (isHash(head)) ids.add(head)
      for (const [name, content] of Object.entries(states)) for (const id of hashesIn(name, content)) ids.add(id)
      for (const entry of index.values()) if (entry && entry.mode !== gitlinkMode) ids.add(entry.id)
    }
    const types = await objects.typesOf([...ids])
    const tips = [...types.keys()].filter((id) => ids.has(id))
    const known = [...changed.flatMap(({ from }) => (from === undefined ? [] : [from])), ...this.realRefs.values()].filter(isHash)
    const heads = trees.flatMap(({ realHead }) => (isHash(realHead) ? [realHead] : []))
    const there = await objects.typesOf([...new Set([...heads, ...known.slice(0, mostKnown)])])
    await objects.bring(tips, [...there.keys()])
    return types
  }

  private async writeShallow(shallow: readonly string[], types: Map<string, string>): Promise<void> {
    const lines = shallow.filter((id) => types.get(id) === 'commit')
    if (lines.length === 0) return
    const before = (await textIn(this.common, 'shallow', 64_000_000)) ?? ''
    const there = new Set(before.split('\n'))
    const missing = lines.filter((line) => !there.has(line))
    if (missing.length > 0) await replaceFile(this.common, 'shallow', Buffer.from(`${before}${missing.join('\n')}\n`))
  }

  private async writeRefs(changed: readonly RefChange[], logs: Map<string, NewLog>, types: Map<string, string>): Promise<void> {
    const stay = new Set(changed.flatMap(({ name, aside }) => (aside === undefined ? [] : [`logs/${name}`])))
    const removed = changed.filter(
      ({ name, from, to, aside }) => to === undefined && aside === undefined && this.realRefs.get(name) === from,
    )
    await this.removeRefs(removed)
    for (const { name, from, to, aside } of changed) {
      if (to === undefined) continue
      const mayBe = isHash(to) ? types.get(to) : 'commit'
      if (mayBe === undefined || (mayBe !== 'commit' && /^refs\/(heads|remotes|stash)/.test(name))) {
        stay.add(`logs/${name}`)
        this.say(
          `${name} was not brought back: ${mayBe === undefined ? 'its object is missing' : `it is no commit but a ${mayBe}`}.`,
        )
      } else if (aside !== undefined) await this.writeRef(aside, undefined, to, { isForced: true })
      else if (this.realRefs.get(name) !== to) {
        await this.writeLog(`logs/${name}`, logs.get(`logs/${name}`), types)
        await this.writeRef(name, from, to)
      }
    }
    for (const [path, log] of logs)
      if (path.startsWith('logs/refs/') && !stay.has(path) && !removed.some(({ name }) => path === `logs/${name}`))
        await this.writeLog(path, log, types)
  }

  private async writeRef(name: string, from: RefValue | undefined, to: RefValue, { isForced = false } = {}): Promise<void> {
    await inMadeFolder(this.common, dirname(name), async (folder) => {
      const file = basename(name)
      const isFree =
        folder &&
        (!(await openIn(folder, file).then((found) => found?.close().then(() => true))) || (await removeEmpty(folder, file)))
      const isStill = async () => {
        const now = readRefValue(await textIn(folder, file, 4_096)) ?? this.realRefs.get(name)
        return isForced || now === from || now === to
      }
      if (!folder || !isFree || !(await replaceFile(folder, file, Buffer.from(`${to}\n`), { isStill })))
        this.say(`${name} was not moved to ${to}, because somebody else moved it at this moment.`)
    })
  }

  private async removeRefs(removed: readonly RefChange[]): Promise<void> {
    if (removed.length === 0) return
    const names = new Set(removed.map(({ name }) => name))
    const lines = (await textIn(this.common, 'packed-refs', mostPackedRefsBytes))?.split('\n') ?? []
    let isGone = false
    const kept = lines.filter((line) => {
      // A line with a caret belongs to the one before it.
      isGone = line.startsWith('^') ? isGone : names.has(line.slice(line.indexOf(' ') + 1))
      return !isGone
    })
    if (kept.length < lines.length) await replaceFile(this.common, 'packed-refs', Buffer.from(kept.join('\n')))
    for (const { name, from } of removed) {
      await inFolderBelow(this.common, dirname(name), async (folder) => {
        if (!folder || !isThere(folder, basename(name))) return
        const isStill = async () => readRefValue(await textIn(folder, basename(name), 4_096)) === from
        await replaceFile(folder, basename(name), undefined, { isStill })
      })
      await inFolderBelow(this.common, dirname(`logs/${name}`), async (folder) => folder && removeEntry(folder, basename(name)))
    }
  }

  /** `root` is the folder that the path belongs to, which may be that of one work tree. */
  private async writeLog(
    path: string,
    log: NewLog | undefined,
    types: Map<string, string>,
    { root, own }: { root: DirectoryHandle; own: string } = { root: this.common, own: '' },
  ): Promise<void> {
    if (!log || (log.lines.length === 0 && !log.isWhole)) return
    const lines = log.lines.filter(({ to }) => types.has(to) || /^0+$/.test(to)).map(({ text }) => `${text}\n`)
    const added = Buffer.from(lines.join(''))
    await inMadeFolder(root, dirname(path), async (folder) => {
      if (!folder) return
      const name = basename(path)
      const before = readRegular(folder, name, mostLogBytes) ?? Buffer.alloc(0)
      const known = this.known.logs[join(own, path)]
      const goesOn = known !== undefined && digestOf(before.subarray(0, known.size)) === known.digest
      if (log.isWhole) {
        if (goesOn && before.length === known.size) await replaceFile(folder, name, added)
        else if (!before.equals(added)) this.say('The list of what is stashed stays as it is, because it was changed meanwhile.')
        return
      }
      // A try that was cut short may have written them.
      if (!before.subarray(goesOn ? known.size : 0).includes(added))
        await replaceFile(folder, name, Buffer.concat([before, added]))
    })
  }

  private async writeTree(change: TreeChange, types: Map<string, string>): Promise<void> {
    const { tree, head, states } = change
    if (change.isKept) return
    const isMissing = [...change.index.values()].some((entry) => entry && entry.mode !== gitlinkMode && !types.has(entry.id))
    const target = targetOf(head)
    if (isMissing || (target === undefined && types.get(head) !== 'commit')) {
      this.say(`HEAD and index of ${this.git.path} were not brought back: an object is missing.`)
      change.isKept = true
      return
    }
    await inMadeFolder(this.common, relative(this.git.common, tree.real), async (folder) => {
      if (!folder) throw new PawlError('conflict', `${tree.real} is no folder`)
      if (tree.own !== '' && !isThere(folder, 'gitdir')) {
        const at = await worktreeIn(this.own, basename(tree.own), this.git, this.place)
        await replaceFile(folder, 'commondir', Buffer.from('../..\n'))
        await replaceFile(folder, 'gitdir', Buffer.from(`${at}\n`))
      }
      await this.writeIndex(folder, change)
      await fp('git.index')
      await this.writeLog('logs/HEAD', { lines: change.log, isWhole: false }, types, { root: folder, own: tree.own })
      if (change.realHead !== head) {
        const isStill = async () => {
          const now = readRefValue(await textIn(folder, 'HEAD', 4_096))
          return now === change.realHead || now === head
        }
        if (!(await replaceFile(folder, 'HEAD', Buffer.from(`${head}\n`), { isStill })))
          this.say(`HEAD of ${this.git.path} was moved by somebody else at this moment and stays.`)
      }
      await fp('git.head')
      for (const name of new Set([...Object.keys(states), ...Object.keys(tree.states)])) {
        const content = states[name]
        const isWhole = content === undefined || hashesIn(name, content).every((id) => types.get(id) === 'commit')
        if (content === tree.states[name] || !isWhole || (await textIn(folder, name)) === content) continue
        await replaceFile(folder, name, content === undefined ? undefined : Buffer.from(content))
      }
    })
  }

  private async writeIndex(folder: DirectoryHandle, { index, realIndex, realEntries }: TreeChange): Promise<void> {
    const changes = [...index].filter(([key, entry]) => !isSameEntry(realEntries.get(key), entry))
    if (changes.length === 0) return
    const isSha256 = this.known.idBytes === 32
    const none = '0'.repeat(this.known.idBytes * 2)
    // First what goes: a file may have become a folder.
    const lines = changes
      .toSorted(([, a], [, b]) => Number(a !== undefined) - Number(b !== undefined))
      .map(([key, entry]) =>
        entry ? `${entry.mode.toString(8)} ${entry.id} ${key[0]}\t${pathOf(key)}\0` : `0 ${none} ${key[0]}\t${pathOf(key)}\0`,
      )
    let bytes = await indexGit({ bytes: realIndex, isSha256 }, ['-z', '--index-info'], Buffer.from(lines.join(''), 'latin1'))
    const mark = async (flag: string, is: (entry: IndexEntry, now: IndexEntry | undefined) => boolean) => {
      const paths = changes.filter(([key, entry]) => entry && key[0] === '0' && is(entry, realEntries.get(key)))
      const input = Buffer.from(paths.map(([key]) => `${pathOf(key)}\0`).join(''), 'latin1')
      if (paths.length > 0) bytes = await indexGit({ bytes, isSha256 }, [flag, '-z', '--stdin'], input)
    }
    await mark('--skip-worktree', ({ isSkipped }) => isSkipped)
    await mark('--assume-unchanged', ({ isAssumedUnchanged }) => isAssumedUnchanged)
    const stat = lstatSync(folder.at('index'), { throwIfNoEntry: false })
    const isStill = async () => {
      const now = readRegular(folder, 'index', mostIndexBytes)
      return now === realIndex || (now !== undefined && realIndex !== undefined && now.equals(realIndex))
    }
    const how = { isStill, mode: stat ? stat.mode & 0o777 : 0o644, ...(stat ? { mtimeMs: stat.mtimeMs } : {}) }
    if (await replaceFile(folder, 'index', bytes, how)) return
    throw new PawlError('conflict', 'its index was written by somebody else at this moment')
  }

  /** What is no part of the history: large files, and which files are checked out. */
  private async extras(): Promise<void> {
    await bringLargeFiles(this.own, this.common)
    const sparse = await inFolderBelow(this.own, 'info', (info) => textIn(info, 'sparse-checkout', 16_000_000))
    if (sparse === this.known.sparse) return
    const tree = await openDirectory(this.git.tree)
    try {
      const settings = `${await textIn(this.common, 'config')}${await textIn(tree, 'config.worktree')}`
      const isPlain = sparse === undefined || !/[^\P{Cc}\n\t]/u.test(sparse)
      if (!tree || sparse === undefined || !isPlain || !/sparsecheckout\s*=\s*"?true/i.test(settings))
        this.say('Which files are checked out (git sparse-checkout) was changed inside only; set it once more if it is wanted.')
      else await inMadeFolder(tree, 'info', async (info) => info && replaceFile(info, 'sparse-checkout', Buffer.from(sparse)))
    } finally {
      await tree?.close()
    }
  }

  /** The next run may go on with the agent's, if the two are the same again. */
  private end(known: Known): void {
    const state = this.left.length > 0 ? 'over' : 'same'
    writeKnown(this.git.known, withSignatures({ ...known, state }, this.git.git))
  }

  private async knownNow(): Promise<Known> {
    const { known, git, own } = this
    const refs = Object.fromEntries(await readRefs(this.common))
    const all = await this.allTrees()
    const next: KnownTree[] = []
    for (const [number, tree] of all.entries()) {
      const real = tree.real === '' ? undefined : await openDirectory(tree.real)
      try {
        const index = real && readRegular(real, 'index', mostIndexBytes)
        if (index) writeFileSync(knownIndex(git.known, number), index)
        const head = real ? readRefValue(await textIn(real, 'HEAD', 4_096)) : tree.head
        next.push({
          real: tree.real,
          own: tree.own,
          ...(head === undefined ? {} : { head }),
          states: real ? await readStates(real) : tree.states,
        })
      } finally {
        await real?.close()
      }
    }
    const logs: Known['logs'] = {}
    const add = async (path: string, folder: DirectoryHandle, name: string) => {
      const bytes = readRegular(folder, name, 64_000_000)
      if (bytes) logs[path] = { size: bytes.length, digest: digestOf(bytes) }
    }
    await filesBelow(own, 'logs/refs', (file, folder, name) => add(`logs/refs/${file}`, folder, name))
    for (const tree of next)
      await inFolderBelow(
        own,
        join(tree.own, 'logs'),
        async (folder) => folder && add(join(tree.own, 'logs/HEAD'), folder, 'HEAD'),
      )
    const shallow = await textIn(this.common, 'shallow', 64_000_000)
    return { ...known, refs, logs, trees: next, ...(shallow === undefined ? {} : { shallow }) }
  }
}

/** The file by which a linked worktree of the agent's is told, if it lies in the workspace and leads back. */
export async function worktreeIn(
  own: DirectoryHandle,
  id: string,
  git: PrivateGit,
  place: Pick<BringPlace, 'root' | 'workspace'>,
): Promise<string | undefined> {
  const gitdir = (await inFolderBelow(own, `worktrees/${id}`, (folder) => textIn(folder, 'gitdir', 8_192)))?.trim()
  if (!isWorktreeId(id) || gitdir === undefined || !isAbsolute(gitdir)) return undefined
  // Without dots: behind a link they lead elsewhere, for whoever reads them.
  const plain = sandboxPath(gitdir)
  const path = relativeTo(place.workspace, plain)
  if (path === undefined || basename(path) !== '.git') return undefined
  const folder = await openDirectory(join(place.root, dirname(path)))
  try {
    const pointer = (await textIn(folder, '.git', 8_192))?.trim()
    return pointer === `gitdir: ${git.path}/worktrees/${id}` ? plain : undefined
  } finally {
    await folder?.close()
  }
}

/** Linked worktrees that the agent made and that will be there, as `path` has it. */
export async function newWorktrees(git: PrivateGit, place: Pick<BringPlace, 'root' | 'workspace'>): Promise<string[]> {
  const own = await openDirectory(git.git)
  try {
    const ids = await (own ? inFolderBelow(own, 'worktrees', async (folder) => (folder ? readdirSync(folder.at('.')) : [])) : [])
    const found: string[] = []
    for (const id of ids)
      if (own && (await worktreeIn(own, id, git, place)) !== undefined) found.push(join(git.path, 'worktrees', id))
    return found
  } finally {
    await own?.close()
  }
}

const stashLog = 'logs/refs/stash'

/** Tells whether one of these names lies in the way of another, as a file where a folder is needed, or the other way round. */
function namesInTheWay(there: readonly string[]): (wanted: string) => boolean {
  const names = new Set(there)
  const folders = new Set(there.flatMap(foldersOf))
  return (wanted) => folders.has(wanted) || foldersOf(wanted).some((folder) => names.has(folder))
}

/** The name of a reference is a path. */
function foldersOf(name: string): string[] {
  const folders: string[] = []
  for (let end = name.indexOf('/'); end !== -1; end = name.indexOf('/', end + 1)) folders.push(name.slice(0, end))
  return folders
}

const same = (one: Readonly<Record<string, string>>, other: Readonly<Record<string, string>>) =>
  [...new Set([...Object.keys(one), ...Object.keys(other)])].every((name) => one[name] === other[name])

const some = (paths: readonly string[]) => [...paths.slice(0, 5), ...(paths.length > 5 ? ['…'] : [])].join(', ')
