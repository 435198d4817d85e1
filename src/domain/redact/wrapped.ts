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
export function findWrapped(text: string, search: Search, runBefore = 0): Found[] {
  return blocksOf(text, runBefore).flatMap((block) =>
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

/** How many signs of encoded text a text ends with, as far as that matters. `before` are those that stood before it. */
export function endingRun(text: string, before: number): number {
  let run = 0
  while (run < minRun && run < text.length && codeAt(text, text.length - 1 - run)) run++
  return run === text.length ? Math.min(minRun, run + before) : run
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
  const nextBreak = breaksOf(text)
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

const none: readonly Block[] = []
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

/** The next line break with encoded text before it, and after it unless the text ends there. */
function breaksOf(text: string): (from: number) => { start: number; end: number } | undefined {
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
      const end = start > 0 && codeAt(text, start - 1) ? breakAt(text, start) : undefined
      if (end !== undefined) return { start, end }
      at = sign + 1
    }
  }
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
