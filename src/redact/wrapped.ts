import type { Found, Search } from './search.ts'

/** Shorter lines are words of a sentence, and nobody breaks what is encoded so early. */
const minRun = 16

/** Signs that base64 and hexadecimal are written with. */
const isCode = new Uint8Array(256)
for (const sign of 'ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/=_-') isCode[sign.charCodeAt(0)] = 1
const codeAt = (text: string, at: number) => isCode[text.charCodeAt(at)] === 1

/** Lines of encoded text that follow each other, as if nothing stood between them. */
interface Block {
  readonly joined: string
  /** Where each line begins, in the text and among the joined. */
  readonly starts: readonly { readonly at: number; readonly joinedAt: number }[]
  readonly end: number
}

/** Finds what is broken into lines, as programs write base64 and hexadecimal. */
export function findWrapped(text: string, search: Search, runBefore = 0): readonly Found[] {
  const blocks = blocksOf(text, runBefore)
  if (blocks.length === 0) return none
  return blocks.flatMap((block) =>
    search
      .find(block.joined)
      .map(({ start, end, name }) => ({ start: placeOf(block, start), end: placeOf(block, end - 1) + 1, name })),
  )
}

/** How much of the end of a text may be the beginning of something that is broken into lines. */
export function wrappedOpenEnd(text: string, search: Search, runBefore = 0): number {
  const last = blocksOf(text, runBefore).at(-1)
  if (last?.end !== text.length) return 0
  const open = search.openEnd(last.joined)
  return open === 0 ? 0 : text.length - placeOf(last, last.joined.length - open)
}

/** How many signs of encoded text bytes end with, as far as that matters. `before` are those that stood before them. */
export function endingRun(bytes: Uint8Array, before: number): number {
  const run = runBack(bytes, bytes.length)
  return run === bytes.length ? Math.min(minRun, run + before) : run
}

/** Whether what begins in the one may be broken, there or in the first line of the other. `runBefore` are the signs of encoded text before both. */
export function mayBeWrappedAcross(before: Buffer, after: Buffer, runBefore: number): boolean {
  if (before.some(isOfBreak)) return true
  let run = 0
  while (run < after.length && isCode[after[run]!] === 1) run++
  return run < after.length && isOfBreak(after[run]!) && endingRun(before, runBefore) + run >= minRun
}
const isOfBreak = (sign: number) => sign === newline || sign === carriageReturn || sign === backslash

/** A part of bytes. */
export interface Region {
  readonly start: number
  readonly end: number
}

/**
 * The parts of bytes that may hold encoded lines which follow each other: from the first sign of such a line to the first that stands neither in nor between
 * them. Hardly any line of what programs say ends with so long a word, so there is mostly none.
 */
export function wrappedRegions(bytes: Buffer, runBefore: number): readonly Region[] {
  const { length } = bytes
  let regions: Region[] | undefined
  let plain = -1
  let escaped = -1
  for (let from = 0; from < length; ) {
    if (plain < from) plain = placeOrEnd(bytes, newline, from)
    if (escaped < from) escaped = placeOrEnd(bytes, backslash, from)
    const sign = plain < escaped ? plain : escaped
    // A carriage return at the very end may be the first half of a break.
    const end = sign > 0 && bytes[sign - 1] === carriageReturn ? sign - 1 : sign
    if (end === length) break
    const run = runBack(bytes, end)
    from = sign + 1
    if (run + (run === end ? runBefore : 0) < minRun || !mayBeBreak(bytes, sign)) {
      // The next such line begins after this sign.
      from += minRun
      continue
    }
    while (from < length && isInRegion[bytes[from]!] === 1) from++
    regions ??= []
    regions.push({ start: runStartOf(bytes, end - run), end: Math.min(from, length) })
  }
  return regions ?? none
}

/** A quotation mark inside JSON has a backslash before it too. */
function mayBeBreak(bytes: Buffer, sign: number): boolean {
  if (bytes[sign] === newline) return true
  const next = bytes[sign + 1]
  return next === undefined || next === backslash || next === letterN || next === letterR
}

const newline = 10
const carriageReturn = 13
const backslash = 92
const letterN = 110
const letterR = 114
const isInRegion = isCode.slice()
for (const sign of '\n\r\\ \t') isInRegion[sign.charCodeAt(0)] = 1

/** How many signs of encoded text stand before a place, as far as that matters. */
function runBack(bytes: Uint8Array, end: number): number {
  let run = 0
  while (run < minRun && run < end && isCode[bytes[end - 1 - run]!] === 1) run++
  return run
}

function runStartOf(bytes: Uint8Array, end: number): number {
  let start = end
  while (start > 0 && isCode[bytes[start - 1]!] === 1) start--
  return start
}

function placeOrEnd(bytes: Buffer, sign: number, from: number): number {
  const at = bytes.indexOf(sign, from)
  return at === -1 ? bytes.length : at
}

function placeOf({ starts }: Block, joinedAt: number): number {
  let low = 0
  for (let high = starts.length; high - low > 1; ) {
    const middle = (low + high) >> 1
    if (starts[middle]!.joinedAt <= joinedAt) low = middle
    else high = middle
  }
  return starts[low]!.at + joinedAt - starts[low]!.joinedAt
}

function blocksOf(text: string, runBefore: number): readonly Block[] {
  if (text.length + runBefore <= minRun || !mayBreak(text)) return none
  const blocks: Block[] = []
  const nextBreak = breaksOf(text, runBefore)
  let from = 0
  for (let found = nextBreak(0); found; found = nextBreak(from)) {
    const start = runStart(text, found.start, from)
    const run = found.start - start + (start === 0 ? runBefore : 0)
    from = found.end
    if (run < minRun) continue
    const starts = [{ at: start, joinedAt: 0 }]
    let joined = text.slice(start, found.start)
    let at = found.end
    for (;;) {
      starts.push({ at, joinedAt: joined.length })
      const end = runEnd(text, at)
      joined += text.slice(at, end)
      const next = end - at >= minRun ? breakAt(text, end) : undefined
      at = end
      if (next === undefined) break
      at = next
    }
    blocks.push({ joined, starts, end: at })
    from = Math.max(at, from)
  }
  return blocks
}

const none: readonly never[] = []
const mayBreak = (text: string) => text.includes('\n') || text.includes('\\') || text.endsWith('\r')

function runStart(text: string, end: number, least: number): number {
  let start = end
  while (start > least && codeAt(text, start - 1)) start--
  return start
}

function runEnd(text: string, start: number): number {
  let end = start
  while (end < text.length && codeAt(text, end)) end++
  return end
}

/** The next line break with enough encoded text before it, and some after it unless the text ends there. */
function breaksOf(text: string, runBefore: number): (from: number) => { start: number; end: number } | undefined {
  const nextPlain = nextOf(text, '\n')
  const nextEscaped = nextOf(text, '\\')
  const last = text.length - 1
  return (from) => {
    for (let at = from; ; ) {
      const sign = Math.min(nextPlain(at), nextEscaped(at))
      if (sign === Number.POSITIVE_INFINITY) {
        // The first half of a break, whose other half is still to come.
        const isHalf = last > at && text.charCodeAt(last) === 13 && codeAt(text, last - 1)
        return isHalf ? { start: last, end: text.length } : undefined
      }
      const start = sign > 0 && text.charCodeAt(sign) === 10 && text.charCodeAt(sign - 1) === 13 ? sign - 1 : sign
      const end = endsLine(text, start, runBefore) ? breakAt(text, start) : undefined
      if (end !== undefined) return { start, end }
      at = sign + 1
    }
  }
}

/** Nearly always not, and then it is told by a few signs. */
function endsLine(text: string, at: number, runBefore: number): boolean {
  const least = Math.max(0, at - minRun)
  const start = runStart(text, at, least)
  return start < at && at - start + (start === 0 ? runBefore : 0) >= minRun
}

/** As it is or, with a few backslashes, as JSON inside JSON writes it; with the indentation of the next line. */
const lineBreak = /(?:\r?\n|(?:\\{1,4}r)?\\{1,4}n)[ \t]*/y
/** At the end of a text it may have been cut in two. */
const half = /(?:\r|\\{1,4}r?|\\{1,4}r\\{1,4})$/y

function breakAt(text: string, start: number): number | undefined {
  lineBreak.lastIndex = start
  if (lineBreak.test(text)) {
    const end = lineBreak.lastIndex
    return end === text.length || codeAt(text, end) ? end : undefined
  }
  half.lastIndex = start
  return half.test(text) ? text.length : undefined
}

/** Where a sign stands next. Remembered: of two signs one may be everywhere and the other far away. */
function nextOf(text: string, sign: string): (from: number) => number {
  let found = -1
  return (from) => {
    if (found < from) {
      const at = text.indexOf(sign, from)
      found = at === -1 ? Number.POSITIVE_INFINITY : at
    }
    return found
  }
}
