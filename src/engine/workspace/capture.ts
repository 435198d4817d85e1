import { createHash } from 'node:crypto'
import { lstatSync, mkdirSync, symlinkSync } from 'node:fs'
import { basename, dirname, join } from 'node:path'
import { type DirectoryHandle, openDirectory, openIn } from '../../sandbox/files/directory-handle.ts'
import { type Entry, entryIfAny } from '../../sandbox/files/entry.ts'
import { makeFolders } from '../../sandbox/files/make-folders.ts'
import { someNames } from '../../sandbox/files/names-in.ts'
import { readRegular } from '../../sandbox/files/read-file.ts'
import { writeNew } from '../../sandbox/files/write-new.ts'
import { takingTurns } from '../base/turns.ts'

/** A file, a link or a folder with all that is in it, small enough to be kept in a record. */
export interface Captured {
  /** Changes with every content in it, and with what is executable. */
  readonly digest: string
  /** Undefined if it was too much to keep: then only a change can be told. */
  readonly parts?: readonly CapturedPart[] | undefined
  /** A file in it has another name, by which it can be written although this one is covered. */
  readonly isShared: boolean
}
export interface CapturedPart {
  /** Relative to what was captured; empty for itself. */
  readonly path: string
  readonly kind: 'file' | 'directory' | 'link'
  readonly mode: number
  /** Base64 of a file; where a link leads. */
  readonly content?: string
}

const maxParts = 500
/** Of a file of code that is looked at. */
export const mostCodeBytes = 256 * 1024
/** The handles on the way down stay open. What lies deeper counts by the times of its folder, which change with all that is put there or taken away. */
const deepest = 100

/** Undefined if nothing is there. `keep: false` only for telling changes. */
export async function capture(root: string, path: string, { keep }: { keep: boolean }): Promise<Captured | undefined> {
  const parent = await openDirectory(join(root, dirname(path)))
  if (!parent) return undefined
  const parts: CapturedPart[] = []
  const hash = createHash('sha256')
  let [count, bytes] = [0, 0]
  let isShared = false
  const turn = takingTurns()
  const read = async (folder: DirectoryHandle, name: string, below: string, depth: number): Promise<void> => {
    await turn()
    const entry = await entryIfAny(folder.at(name))
    if (!entry || ++count > 20 * maxParts) return
    if (entry.kind === 'file' && (lstatSync(folder.at(name), { throwIfNoEntry: false })?.nlink ?? 1) > 1) isShared = true
    const inside = entry.kind === 'directory' && depth < deepest ? await openIn(folder, name) : undefined
    try {
      const within = inside && someNames(inside, 20 * maxParts)
      const isUnseen = entry.kind === 'directory' && (!within || within.isCut)
      const part = isUnseen ? undefined : await readPart(folder, name, below, entry)
      const executes = entry.kind === 'file' && (entry.mode & 0o100) !== 0
      hash.update(
        JSON.stringify([below, entry.kind, executes, part ? (part.content ?? '') : [entry.size, entry.mtimeNs, entry.ctimeNs]]),
      )
      bytes += part?.content?.length ?? 0
      if (!part) bytes = Number.POSITIVE_INFINITY
      else if (keep && bytes <= 2 * mostCodeBytes) parts.push(part)
      for (const entryName of within?.names ?? []) await read(inside!, entryName, join(below, entryName), depth + 1)
    } finally {
      await inside?.close()
    }
  }
  try {
    await read(parent, basename(path), '', 1)
  } finally {
    await parent.close()
  }
  if (count === 0) return undefined
  const isWhole = keep && count <= maxParts && bytes <= 2 * mostCodeBytes
  return { digest: hash.digest('hex'), isShared, ...(isWhole ? { parts } : {}) }
}

/** Undefined for what cannot be kept. */
async function readPart(folder: DirectoryHandle, name: string, path: string, entry: Entry): Promise<CapturedPart | undefined> {
  const { kind, mode } = entry
  if (kind === 'directory') return { path, kind, mode }
  if (kind === 'link') return { path, kind, mode, content: entry.target ?? '' }
  if (kind !== 'file' || entry.size > mostCodeBytes) return undefined
  const content = readRegular(folder, name, mostCodeBytes)
  return content && { path, kind, mode, content: content.toString('base64') }
}

/** Puts back what was captured, where nothing is now. */
export async function putBack(root: string, path: string, parts: readonly CapturedPart[]): Promise<void> {
  for (const part of parts) {
    const whole = part.path === '' ? path : join(path, part.path)
    const folder = await makeFolders(root, dirname(whole))
    try {
      await putPart(folder, basename(whole), part)
    } finally {
      await folder.close()
    }
  }
}

async function putPart(folder: DirectoryHandle, name: string, { kind, mode, content = '' }: CapturedPart): Promise<void> {
  if (kind === 'link') return symlinkSync(content, folder.at(name))
  const owner = await folder.stat()
  if (kind === 'directory') {
    mkdirSync(folder.at(name), { mode: 0o700 })
    const made = await openIn(folder, name)
    await made?.chown(owner.uid, owner.gid)
    await made?.chmod(mode | 0o700)
    await made?.close()
    return
  }
  await writeNew(folder, name, Buffer.from(content, 'base64'), { mode })
}
