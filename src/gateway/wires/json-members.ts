/** Where a member of a JSON object lies in the bytes of its text. */
export interface Member {
  readonly key: string
  /** Of the value, without space around it. */
  readonly start: number
  readonly end: number
}

export interface Edit {
  readonly start: number
  readonly end: number
  readonly text: string
}

/**
 * The members of the object whose brace is at `at` that have one of these names, every one of them and in capitals too: neither a name that is given twice nor one that only
 * some take for it must hide from us what a provider reads. The names are given plainly, and the bytes must be JSON that was parsed before.
 */
export function membersOf(bytes: Buffer, names: ReadonlySet<string>, at = objectStart(bytes)): Member[] {
  const found: Member[] = []
  let position = skipSpace(bytes, at + 1)
  while (bytes[position] === quote) {
    const keyEnd = stringEnd(bytes, position)
    const key = keyOf(bytes, position, keyEnd)
    const start = skipSpace(bytes, skipSpace(bytes, keyEnd) + 1)
    const end = valueEnd(bytes, start)
    if (names.has(plainName(key))) found.push({ key, start, end })
    position = skipSpace(bytes, end)
    if (bytes[position] !== comma) break
    position = skipSpace(bytes, position + 1)
  }
  return found
}

/** A name as those see it who do not tell small letters from capitals, nor signs from others that are taken for the same letter. */
export const plainName = (key: string) => (isPlain.test(key) ? key : key.normalize('NFKC').toLowerCase())
const isPlain = /^[a-z0-9_]*$/

/** The same bytes but for these places, which come in their order. */
export function edited(bytes: Buffer, edits: readonly Edit[]): Buffer {
  if (edits.length === 0) return bytes
  const pieces: Buffer[] = []
  let position = 0
  for (const { start, end, text } of edits) {
    pieces.push(bytes.subarray(position, start), Buffer.from(text))
    position = end
  }
  pieces.push(bytes.subarray(position))
  return Buffer.concat(pieces)
}

/** Whether a text of JSON, which need not be sound, holds more values than that: each takes far more memory and time than its bytes. */
export function hasMoreValues(bytes: Buffer, most: number): boolean {
  let count = 0
  let isInString = false
  for (let at = 0; at < bytes.length; at++) {
    const byte = bytes[at]
    if (isInString) {
      if (byte === backslash) at++
      else if (byte === quote) isInString = false
    } else if (byte === quote) isInString = true
    else if ((byte === comma || byte === openBrace || byte === openBracket) && ++count > most) return true
  }
  return false
}

/** Where the outermost object begins: a text may begin with a mark of its byte order. */
export const objectStart = (bytes: Buffer) => bytes.indexOf(openBrace)

const quote = 0x22
const backslash = 0x5c
const comma = 0x2c
const openBrace = 0x7b
const closeBrace = 0x7d
const openBracket = 0x5b
const closeBracket = 0x5d

function skipSpace(bytes: Buffer, from: number): number {
  let position = from
  for (let byte = bytes[position]; byte === 0x20 || byte === 0x0a || byte === 0x0d || byte === 0x09; byte = bytes[position])
    position++
  return position
}

/** Behind the closing quote. Long strings are skipped by native search, but for those that are full of quotes. */
function stringEnd(bytes: Buffer, start: number): number {
  let end = bytes.indexOf(quote, start + 1)
  for (let hops = 0; isEscaped(bytes, end); hops++) {
    if (hops === maxHops) return scannedEnd(bytes, end + 1)
    end = bytes.indexOf(quote, end + 1)
  }
  return end === -1 ? bytes.length : end + 1
}

const maxHops = 8

function scannedEnd(bytes: Buffer, from: number): number {
  for (let at = from; at < bytes.length; at++) {
    if (bytes[at] === backslash) at++
    else if (bytes[at] === quote) return at + 1
  }
  return bytes.length
}

function isEscaped(bytes: Buffer, at: number): boolean {
  let count = 0
  while (bytes[at - 1 - count] === backslash) count++
  return count % 2 === 1
}

function keyOf(bytes: Buffer, start: number, end: number): string {
  const text = bytes.toString('utf8', start, end)
  return text.includes('\\') ? String(JSON.parse(text)) : text.slice(1, -1)
}

function valueEnd(bytes: Buffer, start: number): number {
  let depth = 0
  let position = start
  while (position < bytes.length) {
    const byte = bytes[position]
    if (byte === quote) {
      position = stringEnd(bytes, position)
      if (depth === 0) return position
      continue
    }
    if (byte === openBrace || byte === openBracket) depth++
    else if (byte === closeBrace || byte === closeBracket) {
      if (depth === 0) return trimmed(bytes, start, position)
      depth--
      if (depth === 0) return position + 1
    } else if (byte === comma && depth === 0) return trimmed(bytes, start, position)
    position++
  }
  return position
}

/** Numbers and words end where the space behind them begins. */
function trimmed(bytes: Buffer, start: number, from: number): number {
  let end = from
  while (end > start && bytes[end - 1]! <= 0x20) end--
  return end
}
