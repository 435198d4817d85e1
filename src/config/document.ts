import { readFile, stat } from 'node:fs/promises'
import { type Document, isAlias, isMap, isScalar, isSeq, LineCounter, type Node, parseDocument, visit } from 'yaml'
import { PawlError } from '../domain/error.ts'
import type { Path, Problem } from './problems.ts'

export interface Place {
  readonly line: number
  readonly column: number
}

/** A settings file as it was read: its bytes, its plain value, and where each part of it stands. */
export interface SettingsDocument {
  readonly file: string
  readonly bytes: Uint8Array
  readonly value: unknown
  readonly problems: readonly Problem[]
  /** Where the path stands, or its nearest ancestor that does: the key of a map entry, the item of a list. */
  placeOf(path: Path): Place
  has(path: Path): boolean
  /** Where a setting of ours stands in a file that has other words for it. Undefined: it is written as it is meant. */
  written?(path: Path): Path
}

/** The parser needs a second for the nastiest file of this size. */
const maxBytes = 128 * 1024

/** Undefined if there is no such file. What is wrong inside it is listed in `problems`, never thrown. */
export async function readDocument(file: string): Promise<SettingsDocument | undefined> {
  let bytes: Uint8Array
  try {
    const found = await stat(file)
    // A pipe or a device would keep us waiting for ever.
    if (!found.isFile()) throw new PawlError('invalid', `${file} is not a regular file; settings are read from a file only.`)
    if (found.size > maxBytes)
      throw new PawlError('invalid', `${file} is larger than 128 KiB; put long texts into files of their own (systemPromptFile).`)
    bytes = await readFile(file)
  } catch (error) {
    if (error instanceof PawlError) throw error
    const { code } = error as NodeJS.ErrnoException
    if (code === 'ENOENT') return undefined
    throw new PawlError('invalid', `${file} cannot be read (${code}); check its permissions.`, { cause: error })
  }
  return parse(file, bytes)
}

export function parse(file: string, bytes: Uint8Array): SettingsDocument {
  const lines = new LineCounter()
  const at = (offset: number): Place => {
    const { line, col } = lines.linePos(offset)
    return { line: Math.max(line, 1), column: Math.max(col, 1) }
  }
  const broken = (message: string, place: Place = { line: 1, column: 1 }): SettingsDocument => ({
    file,
    bytes,
    value: {},
    problems: [{ file, ...place, path: [], sentence: (where) => `${where} ${message}` }],
    placeOf: () => place,
    has: () => false,
  })

  let source: string
  try {
    source = new TextDecoder('utf-8', { fatal: true }).decode(bytes)
  } catch (error) {
    if (!(error instanceof TypeError)) throw error
    return broken('is not UTF-8 text.')
  }

  let document: Document.Parsed
  let value: unknown
  try {
    // The parser's own search for doubled keys takes quadratic time; `oddities` finds them in one pass.
    document = parseDocument(source, { lineCounter: lines, prettyErrors: false, uniqueKeys: false, merge: false })
    const faults = [...document.errors, ...document.warnings].map((fault) => ({
      offset: fault.pos[0],
      message: `is not valid YAML: ${plain(fault.code, fault.message)}`,
    }))
    if (faults.length === 0) faults.push(...oddities(document))
    if (faults.length > 0)
      return { ...broken(''), problems: faults.flatMap(({ message, offset }) => broken(message, at(offset)).problems) }
    value = document.toJS({ maxAliasCount: 100 }) ?? {}
  } catch (error) {
    if (error instanceof RangeError) return broken('is nested too deeply.')
    if (error instanceof ReferenceError)
      return broken('uses YAML aliases in a way that would grow without bound; write the values out.')
    throw error
  }

  const walk = (path: Path): { offset: number; whole: boolean } => {
    let node: unknown = document.contents
    let offset = document.contents?.range?.[0] ?? 0
    for (const step of path) {
      if (isAlias(node)) node = node.resolve(document)
      if (isMap(node)) {
        const pair = node.items.find((item) => isScalar(item.key) && String(item.key.value) === String(step))
        if (!pair) return { offset, whole: false }
        offset = (pair.key as Node).range?.[0] ?? offset
        node = pair.value
      } else if (isSeq(node) && typeof step === 'number' && node.items[step] !== undefined) {
        node = node.items[step]
        offset = (node as Node).range?.[0] ?? offset
      } else return { offset, whole: false }
    }
    return { offset, whole: true }
  }
  return { file, bytes, value, problems: [], placeOf: (path) => at(walk(path).offset), has: (path) => walk(path).whole }
}

/** What YAML allows and settings do not: doubled keys, keys that are no plain words, and values that contain themselves. */
function oddities(document: Document.Parsed): { message: string; offset: number }[] {
  const odd: { message: string; offset: number }[] = []
  visit(document, {
    Map(_, map) {
      const seen = new Set<string>()
      for (const { key } of map.items) {
        const offset = (key as Node | null)?.range?.[0] ?? 0
        if (!isScalar(key) || key.value === null || key.value === '__proto__')
          odd.push({ message: 'has a key that is not a plain word.', offset })
        else if (seen.has(String(key.value))) odd.push({ message: 'is not valid YAML: the same key stands here twice.', offset })
        else seen.add(String(key.value))
      }
    },
    Alias(_, alias, ancestors) {
      if (ancestors.some((ancestor) => (ancestor as { anchor?: string }).anchor === alias.source))
        odd.push({ message: `has an alias (*${alias.source}) inside the value it stands for.`, offset: alias.range?.[0] ?? 0 })
    },
  })
  return odd
}

/** The parser's own words where they are plain, ours where people stumble. */
function plain(code: string, message: string): string {
  if (code === 'TAB_AS_INDENT') return 'a tab is used for indentation; use spaces.'
  if (code === 'MULTIPLE_DOCS') return 'a second document starts here; a settings file holds one.'
  if (code === 'TAG_RESOLVE_FAILED') return 'tags (!name) have no meaning here.'
  if (code === 'BAD_INDENT') return 'the indentation does not fit the lines around it.'
  const sentence = message.split('\n')[0]!.trim()
  return /[.!?]$/.test(sentence) ? sentence : `${sentence}.`
}
