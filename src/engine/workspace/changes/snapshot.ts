import { type BigIntStats, lstatSync } from 'node:fs'
import { open } from 'node:fs/promises'
import { join } from 'node:path'
import { hostPath, relativeTo } from '../../../domain/base/path.ts'
import { type DirectoryHandle, openIn } from '../../../sandbox/files/directory-handle.ts'
import { removeTree } from '../../../sandbox/files/remove-tree.ts'
import type { Sandbox, Walls } from '../../../sandbox/port.ts'
import type { Child } from '../../../sandbox/process/child.ts'
import { takingTurns } from '../../base/turns.ts'
import { gitScript } from '../git.ts'
import { openWorkspace } from '../same-place.ts'
import { emptyTree, keepScript, lookScript, newStoreScript, tellScript } from './scripts.ts'

/** What a workspace holds at one moment: a tree in a store of ours, and what was too large to be put there. */
export interface Picture {
  readonly tree: string
  /** Size and times of large files by their paths: a change of them can be told, not shown. */
  readonly large: Readonly<Record<string, string>>
  /** Repositories inside, into which git does not look. */
  readonly nested: readonly string[]
}

export interface PicturePlace {
  readonly sandbox: Sandbox
  /** Its home is the folder of the store: nothing but git is ever started with it. */
  readonly walls: Omit<Walls, 'door'>
  readonly path: string
  /** Our own home, should it lie in the workspace. */
  readonly without: string
  readonly signal: AbortSignal
}

export interface PictureLimits {
  readonly files: number
  readonly bytes: number
  /** A file beyond this is compared by its size and times. */
  readonly fileBytes: number
  readonly ms: number
}

/** Of a workspace without any file. */
export const emptyPicture: Picture = { tree: emptyTree, large: {}, nested: [] }

export const usualLimits: PictureLimits = { files: 50_000, bytes: 512_000_000, fileBytes: 8_000_000, ms: 10_000 }

/** Why there is no picture, as a part of a sentence. */
export class NoPicture extends Error {}

/**
 * Git looks at the workspace with an index, objects and settings of ours, inside the walls; nothing of the user's repository but its index, as a beginning, and its
 * objects are read. It names what may have changed, we say what of it is to be read, and it does. `base` asks for what is different from an earlier picture: it is left in the
 * files `list` and `patch` of the store.
 */
export async function takePicture(place: PicturePlace, base: Picture | undefined, limits = usualLimits): Promise<Picture> {
  const { sandbox, walls, path, signal } = place
  const folder = walls.home
  // Where there was nothing to picture, there is no store yet.
  const isBegun = base !== undefined && base.tree !== emptyTree
  const script = ['set -e', 'umask 077', isBegun ? '' : newStoreScript, lookScript, keepScript, base ? tellScript : ''].join('\n')
  const child = await gitScript(sandbox, walls, { path, script, env: { PAWL_BASE: base?.tree ?? '' }, settings })
  const complaint = lastWords(child)
  let isLate = false
  const leave = () => void child.stop({ graceMs: 0 })
  const timer = setTimeout(() => {
    isLate = true
    leave()
  }, limits.ms)
  signal.addEventListener('abort', leave)
  if (signal.aborted) leave()
  try {
    const said = child.stdout[Symbol.asyncIterator]() as AsyncIterator<Buffer>
    const { names, rest } = await readNames(said, limits)
    const sorted = await sortNames(names, place, limits)
    await handOver(join(folder, 'take'), sorted.take, walls.user)
    await handOver(join(folder, 'drop'), sorted.drop, walls.user)
    child.stdin.end()
    const answer = await readRest(said, rest)
    const { code } = await child.exited
    const tree = /^[0-9a-f]{40,64}$/m.exec(answer)?.[0]
    if (code === 0 && tree !== undefined) return { tree, large: sorted.large, nested: sorted.nested }
    throw new NoPicture(complaint() === '' ? 'git could not read it' : `git could not read it (${complaint()})`)
  } catch (error) {
    if (isLate) throw new NoPicture(`reading it takes longer than ${limits.ms / 1000} s`)
    throw error
  } finally {
    clearTimeout(timer)
    signal.removeEventListener('abort', leave)
    await child.stop({ graceMs: 0 })
  }
}

/** Only whoever runs git may read it. */
async function handOver(file: string, names: readonly Buffer[], user: Walls['user']): Promise<void> {
  await removeTree(file)
  const made = await open(file, 'wx', 0o600)
  try {
    await made.writeFile(nulled(names))
    if (user) await made.chown(user.uid, user.gid)
  } finally {
    await made.close()
  }
}

/** Large files are never shown line by line, names are written as they are, and nothing of the user's own index is written anew for speed. */
const settings = [
  'core.bigFileThreshold=1m',
  'core.compression=0',
  'core.quotePath=false',
  'core.untrackedCache=false',
  'core.splitIndex=false',
  'index.sparse=false',
  'diff.renameLimit=400',
  'core.fileMode=true',
]

const nulled = (names: readonly Buffer[]) => Buffer.concat(names.flatMap((name) => [name, nul]))
const nul = Buffer.from([0])
const mostNameBytes = 32_000_000

/** Up to the empty one, which ends them. */
async function readNames(said: AsyncIterator<Buffer>, limits: PictureLimits): Promise<{ names: Buffer[]; rest: Buffer }> {
  const names: Buffer[] = []
  let held: Buffer = Buffer.alloc(0)
  let bytes = 0
  for (;;) {
    const { value, done } = await said.next()
    if (done) throw new NoPicture('git could not read it')
    held = held.length === 0 ? value : Buffer.concat([held, value])
    bytes += value.length
    let start = 0
    for (let end = held.indexOf(0); end !== -1; end = held.indexOf(0, start)) {
      if (end === start) return { names, rest: held.subarray(end + 1) }
      names.push(Buffer.from(held.subarray(start, end)))
      start = end + 1
      if (names.length > limits.files) throw new NoPicture(`more than ${limits.files} files would have to be read`)
    }
    held = held.subarray(start)
    if (bytes > mostNameBytes) throw new NoPicture('the names of its files are too long')
  }
}

async function readRest(said: AsyncIterator<Buffer>, before: Buffer): Promise<string> {
  const parts = [before]
  for (let next = await said.next(); !next.done; next = await said.next()) parts.push(next.value)
  return Buffer.concat(parts).toString('latin1')
}

interface Sorted {
  readonly take: Buffer[]
  /** Gone, or nothing that can be read. */
  readonly drop: Buffer[]
  readonly large: Record<string, string>
  readonly nested: string[]
}

/** What of all this git is to read: regular files and links of a sensible size, that its user may read and to which no link leads. */
async function sortNames(names: readonly Buffer[], place: PicturePlace, limits: PictureLimits): Promise<Sorted> {
  const { workspace, user } = place.walls
  const root = await openWorkspace(workspace.source, place.without)
  if (!root) throw new NoPicture('its folder is gone, or a link by now')
  // Where the folder of the user lies, of which this may be a copy.
  const below = relativeTo(hostPath(workspace.path), hostPath(place.without))
  const ours = below === undefined || below === '.' ? undefined : `${below}/`
  const sorted: Sorted = { take: [], drop: [], large: {}, nested: [] }
  const turn = takingTurns()
  let bytes = 0
  /** The folders on the way to the name before, which mostly lies in the same one. */
  const way: { readonly name: Buffer; readonly opened: DirectoryHandle | undefined }[] = []
  const leave = async (depth: number) => {
    for (const { opened } of way.splice(depth)) await opened?.close()
  }
  /** The folder of that name, if it is one all the way and no link is among them. */
  const enter = async (parts: readonly Buffer[]): Promise<DirectoryHandle | undefined> => {
    const same = way.findIndex(({ name }, depth) => parts[depth] === undefined || !name.equals(parts[depth]))
    if (same !== -1) await leave(same)
    for (const name of parts.slice(way.length)) {
      const above = way.length === 0 ? root : way.at(-1)?.opened
      way.push({ name, opened: above && way.length < deepest ? await openIn(above, name).catch(() => undefined) : undefined })
    }
    return way.length === 0 ? root : way.at(-1)?.opened
  }
  const look = async (name: Buffer): Promise<Found> => {
    const parts = partsOf(name)
    const last = parts.pop()!
    const parent = await enter(parts)
    return parent && lookOr(parent, last)
  }

  try {
    for (const name of names) {
      await turn()
      if (ours !== undefined && name.toString('utf8').startsWith(ours)) continue
      if (name.at(-1) === slash) {
        sorted.nested.push(name.toString('utf8').slice(0, -1))
        continue
      }
      const found = await look(name)
      if (!found) sorted.drop.push(name)
      else if (found.isSymbolicLink()) sorted.take.push(name)
      else if (!found.isFile()) sorted.drop.push(name)
      else if (Number(found.size) > limits.fileBytes || !mayRead(found, user))
        sorted.large[name.toString('utf8')] = `${found.size} ${found.mtimeNs} ${found.ctimeNs}`
      else {
        bytes += Number(found.size)
        if (bytes > limits.bytes) throw new NoPicture(`more than ${limits.bytes / 1_000_000} MB would have to be read`)
        sorted.take.push(name)
      }
    }
    return sorted
  } finally {
    await leave(0)
    await root.close()
  }
}

/** The handles on the way down stay open. */
const deepest = 200

const slash = 0x2f
type Found = BigIntStats | undefined

function partsOf(name: Buffer): Buffer[] {
  const parts: Buffer[] = []
  for (let from = 0; ; ) {
    const end = name.indexOf(slash, from)
    if (end === -1) return [...parts, name.subarray(from)]
    parts.push(name.subarray(from, end))
    from = end + 1
  }
}

function lookOr(folder: DirectoryHandle, name: Buffer): Found {
  try {
    return lstatSync(folder.atBytes(name), { bigint: true, throwIfNoEntry: false })
  } catch {
    // A name that is too long: nothing that anybody here can read.
    return undefined
  }
}

function mayRead({ mode, uid, gid }: NonNullable<Found>, user: Walls['user']): boolean {
  const self = user ?? { uid: process.getuid?.() ?? 0, gid: process.getgid?.() ?? 0 }
  if (self.uid === 0) return true
  const bit = Number(uid) === self.uid ? 0o400n : Number(gid) === self.gid ? 0o040n : 0o004n
  return (mode & bit) !== 0n
}

/** What git complained of last, short enough for a sentence. */
function lastWords(child: Child): () => string {
  let said = ''
  child.stderr.setEncoding('utf8')
  child.stderr.on('data', (text: string) => {
    said = `${said}${text}`.slice(-2_000)
  })
  return () => (said.trim().split('\n').at(-1) ?? '').slice(0, 200)
}
