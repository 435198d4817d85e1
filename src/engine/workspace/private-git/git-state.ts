import { type BigIntStats, lstatSync, readdirSync } from 'node:fs'
import { PawlError } from '../../../domain/error.ts'
import { type DirectoryHandle, openIn } from '../../../sandbox/files/directory-handle.ts'
import { inFolderBelow } from '../../../sandbox/files/make-folders.ts'
import { readRegular } from '../../../sandbox/files/read-file.ts'
import { takingTurns } from '../../base/turns.ts'
import { mostCodeBytes } from '../capture.ts'

/**
 * Strict readers of a git directory that somebody else may have written: by open folders, following no link, believing nothing that is not plain. They start no git.
 */

/** A hash, or `ref: ` and the name of another reference. */
export type RefValue = string
export type Refs = Map<string, RefValue>

const hash = /^(?:[0-9a-f]{40}|[0-9a-f]{64})$/
export const isHash = (value: string | undefined): value is RefValue => value !== undefined && hash.test(value)

/** As `git check-ref-format` has it, and no part may be taken for an option. */
export function isRefName(name: string): boolean {
  if (!name.startsWith('refs/') || name.length > 1_000 || name.endsWith('.')) return false
  if (/[\x00-\x20\x7f~^:?*[\\\ufffd]|\.\.|@\{/.test(name)) return false
  return name.split('/').every((part) => part !== '' && !/^[.-]|\.lock$/.test(part))
}

/** What a reference says that leads to another one: only branches, here and of others. */
export function targetOf(value: RefValue | undefined): string | undefined {
  const name = value?.startsWith('ref: ') ? value.slice(5) : undefined
  return name !== undefined && /^refs\/(heads|remotes)\//.test(name) && isRefName(name) ? name : undefined
}

export function readRefValue(text: string | undefined): RefValue | undefined {
  if (text === undefined) return undefined
  const value = text.replace(/\n$/, '')
  if (hash.test(value)) return value
  const target = targetOf(value.replace(/^ref:\s+/, 'ref: '))
  return target === undefined ? undefined : `ref: ${target}`
}

export async function textIn(
  folder: DirectoryHandle | undefined,
  name: string,
  most = mostCodeBytes,
): Promise<string | undefined> {
  return folder && readRegular(folder, name, most)?.toString('utf8')
}

const deepest = 64
const mostFiles = 500_000
export const mostPackedRefsBytes = 256_000_000

/** Every regular file below a folder, by its path there. */
export async function filesBelow(
  root: DirectoryHandle,
  path: string,
  use: (file: string, folder: DirectoryHandle, name: string) => Promise<void> | void,
): Promise<void> {
  const turn = takingTurns()
  let files = 0
  const walk = async (folder: DirectoryHandle, below: string, depth: number): Promise<void> => {
    for (const entry of readdirSync(folder.at('.'), { withFileTypes: true })) {
      await turn()
      if (entry.name.includes('\ufffd')) continue
      const file = below === '' ? entry.name : `${below}/${entry.name}`
      if (entry.isFile() && ++files <= mostFiles) await use(file, folder, entry.name)
      if (!entry.isDirectory() || depth >= deepest) continue
      const inside = await openIn(folder, entry.name)
      try {
        if (inside) await walk(inside, file, depth + 1)
      } finally {
        await inside?.close()
      }
    }
  }
  await inFolderBelow(root, path, async (folder) => folder && walk(folder, '', 0))
}

/** All references, those in files before those that are packed. What is no reference is left out. */
export async function readRefs(common: DirectoryHandle, mostPackedBytes = mostPackedRefsBytes): Promise<Refs> {
  const refs = await readPackedRefs(common, mostPackedBytes)
  await filesBelow(common, 'refs', async (file, folder, name) => {
    const ref = `refs/${file}`
    if (!isRefName(ref)) return
    const value = readRefValue(await textIn(folder, name, 4_096))
    if (value !== undefined) refs.set(ref, value)
  })
  return refs
}

/** Line by line, giving everybody else a turn now and then. */
export async function readPackedRefs(common: DirectoryHandle, mostBytes = mostPackedRefsBytes): Promise<Refs> {
  const refs: Refs = new Map()
  const packed = readRegular(common, 'packed-refs', mostBytes)
  if (!packed && (lstatSync(common.at('packed-refs'), { throwIfNoEntry: false })?.size ?? 0) > mostBytes)
    throw new PawlError('invalid', `its packed references take more than ${mostBytes} bytes.`)
  const turn = takingTurns()
  for (let from = 0; packed && from < packed.length; ) {
    await turn()
    const end = packed.indexOf(10, from)
    const line = packed.toString('utf8', from, end === -1 ? packed.length : end)
    from = end === -1 ? packed.length : end + 1
    const at = line.indexOf(' ')
    const [value, name] = [line.slice(0, at), line.slice(at + 1)]
    if (isHash(value) && isRefName(name)) refs.set(name, value)
  }
  return refs
}

/** A line of a log of references: two hashes, who and when, and a message. */
const logLine =
  /^([0-9a-f]{40}|[0-9a-f]{64}) ([0-9a-f]{40}|[0-9a-f]{64}) [^<>\p{Cc}]*<[^<>\p{Cc}]*> \d{1,15} [+-]\d{4}(?:\t[^\p{Cc}]*)?$/u

export interface LogLine {
  readonly text: string
  readonly from: string
  readonly to: string
}

/** Line by line, giving everybody else a turn now and then. */
export async function readLog(bytes: Buffer): Promise<LogLine[]> {
  const lines: LogLine[] = []
  const turn = takingTurns()
  for (let from = 0; from < bytes.length; ) {
    await turn()
    const found = bytes.indexOf(10, from)
    const end = found === -1 ? bytes.length : found
    const text = end - from < 10_000 ? bytes.toString('utf8', from, end) : ''
    from = end + 1
    const line = logLine.exec(text)
    if (line) lines.push({ text, from: line[1]!, to: line[2]! })
  }
  return lines
}

/** Files beside HEAD that say what is under way, and what one of them must look like. */
const hashes = /^(?:(?:[0-9a-f]{40}|[0-9a-f]{64})\n?)+$/
const text = /^[^\0]*$/
export const stateFiles: Readonly<Record<string, RegExp>> = {
  ORIG_HEAD: hashes,
  MERGE_HEAD: hashes,
  CHERRY_PICK_HEAD: hashes,
  REVERT_HEAD: hashes,
  MERGE_MODE: /^(no-ff)?\n?$/,
  MERGE_MSG: text,
  SQUASH_MSG: text,
}
export const hashesIn = (name: string, content: string): string[] =>
  stateFiles[name] === hashes ? content.split('\n').filter((line) => line !== '') : []

export async function readStates(tree: DirectoryHandle): Promise<Record<string, string>> {
  const states: Record<string, string> = {}
  for (const [name, rule] of Object.entries(stateFiles)) {
    const content = await textIn(tree, name, 256 * 1024)
    if (content !== undefined && rule.test(content)) states[name] = content
  }
  return states
}

/** What is under way and holds more than hashes: commands to run, for one. */
export const openWork: Readonly<Record<string, string>> = {
  'rebase-merge': 'a rebase',
  'rebase-apply': 'a rebase or an "am"',
  sequencer: 'a cherry-pick or a revert of several commits',
  BISECT_LOG: 'a bisection',
}

export const workUnderWay = (tree: DirectoryHandle): string[] =>
  Object.entries(openWork).flatMap(([name, what]) => (lstatSync(tree.at(name), { throwIfNoEntry: false }) ? [what] : []))

/** Changes with whatever is written to a file, whoever sets its times. */
export const signatureFor = ({ ino, size, mtimeNs, ctimeNs }: BigIntStats): string => `${ino} ${size} ${mtimeNs} ${ctimeNs}`

/** How long an object's name is in this repository, by its settings; undefined for one that keeps its references in another way than in files. */
export function idBytesOf(config: string): number | undefined {
  if (/refstorage\s*=\s*"?(?!files)/i.test(config)) return undefined
  return /objectformat\s*=\s*"?sha256/i.test(config) ? 32 : 20
}
