import { blockLength, nextBeginning, nextCandidate, nextCandidateOf, slotAt, slotOf, tableSize } from './blocks.ts'
import { createSteadySearch } from './steady-search.ts'

/** Finds any of many fixed texts in one pass. They come and go while it is in use. */
export interface Search {
  /** At least `shortest` signs. Added twice, it must be removed twice. */
  add(text: string, name: string): void
  remove(text: string): void
  /** Every place where one of them stands, from left to right; of two that begin at the same place the longer. Places do not overlap. */
  find(text: string): readonly Found[]
  /** Whether these bytes, each read as one sign, may hold one of them or the first signs of one, as many as `glance` says. Much quicker than to find it. */
  touches(bytes: Uint8Array): boolean
  /** How much of the end of a text may be the beginning of one of them. */
  openEnd(text: string): number
  /** So many signs of the end are all that `openEnd` looks at. */
  reach(): number
  /** So many are enough for it where `touches` said no. */
  glance(): number
}

export interface Found {
  readonly start: number
  readonly end: number
  readonly name: string
}

export interface Pattern {
  readonly text: string
  readonly name: string
  count: number
}

export const shortest = 8
/** A wider window moves farther at a time; beyond this there is little left to win. */
const widest = 32
const stalePatterns = 4_096

/**
 * After Wu and Manber: the three signs at the end of a window say how far it may move without missing anything, so most of a text is never looked at, and
 * the number of patterns hardly matters. A text that is nearly a pattern at every turn would defeat that: when comparing gets to be too much work, what is
 * left is searched by an automaton, which is slower on any other text and indifferent to this one.
 */
export function createSearch(): Search {
  const patterns = new Map<string, Pattern>()
  const byWindow = new Map<number, Pattern[]>()
  const byBeginning = new Map<number, Pattern[]>()
  const shifts = new Uint8Array(tableSize)
  /** Whether a pattern begins with the signs of a place: asked for every sign at the end of every chunk, so it must cost next to nothing. */
  const isBeginning = new Uint8Array(tableSize)
  const isFirst = new Uint8Array(1 << 16)
  /** As wide as the shortest pattern. */
  let window = widest
  let longest = 0
  let removed = 0
  const steady = createSteadySearch(patterns)

  const enter = (pattern: Pattern) => {
    const { text } = pattern
    longest = Math.max(longest, text.length)
    for (let at = 0; at <= window - blockLength; at++) {
      const slot = slotAt(text, at)
      shifts[slot] = Math.min(shifts[slot]!, window - blockLength - at)
    }
    put(byWindow, slotAt(text, window - blockLength), pattern)
    put(byBeginning, slotAt(text, 0), pattern)
    isBeginning[slotAt(text, 0)] = 1
    isFirst[text.charCodeAt(0)] = 1
  }
  /** What a removed pattern has written into the table makes the search slower, not wrong: it is written anew now and then. */
  const rebuild = () => {
    removed = 0
    longest = 0
    window = widest
    for (const text of patterns.keys()) window = Math.min(window, text.length)
    shifts.fill(window - blockLength + 1)
    byWindow.clear()
    byBeginning.clear()
    isBeginning.fill(0)
    isFirst.fill(0)
    for (const pattern of patterns.values()) enter(pattern)
  }
  rebuild()

  /** Too little to tell by, and little enough to wait for more. */
  const shortOpenEnd = (text: string) => {
    const few = Math.min(text.length, blockLength - 1)
    for (let at = text.length - few; at < text.length; at++) if (isFirst[text.charCodeAt(at)] === 1) return few
    return 0
  }
  const steadyOpenEnd = (text: string, start: number) => {
    const open = steady.openEnd(text, start)
    return open >= blockLength ? open : shortOpenEnd(text)
  }

  return {
    add(text, name) {
      const known = patterns.get(text)
      if (known) {
        known.count++
        return
      }
      const pattern = { text, name, count: 1 }
      patterns.set(text, pattern)
      steady.forget()
      if (text.length < window) rebuild()
      else enter(pattern)
    },
    remove(text) {
      const known = patterns.get(text)
      if (!known || --known.count > 0) return
      patterns.delete(text)
      steady.forget()
      take(byWindow, slotAt(text, window - blockLength), known)
      take(byBeginning, slotAt(text, 0), known)
      if (++removed >= stalePatterns || patterns.size === 0) rebuild()
    },
    find(text) {
      if (patterns.size === 0) return nothing
      const last = text.length - blockLength
      const widestShift = window - blockLength + 1
      let at = nextCandidate(text, window - blockLength, shifts, widestShift)
      // Most texts are short and hold nothing: they pay for nothing more.
      if (at > last) return nothing
      const found: Found[] = []
      const effort = createEffort(text.length)
      for (; at <= last; at = nextCandidate(text, at, shifts, widestShift)) {
        const slot = slotAt(text, at)
        const start = at - window + blockLength
        if (effort.isTooMuch()) return [...found, ...steady.find(text, start)]
        const hit = byWindow.get(slot)?.find((pattern) => effort.compare(text, start, pattern.text))
        if (hit) found.push({ start, end: start + hit.text.length, name: hit.name })
        at += hit ? hit.text.length : 1
      }
      return found
    },
    touches(bytes) {
      if (patterns.size === 0) return false
      const last = bytes.length - blockLength
      let left = leastEffort(bytes.length)
      for (let at = window - blockLength; ; at++) {
        at = nextCandidateOf(bytes, at, shifts, isBeginning, window)
        if (at > last) return false
        const start = at - window + blockLength
        const bucket = byWindow.get(slotOf(bytes, at))
        if (bucket === undefined) continue
        left -= bucket.length
        if (left < 0 || bucket.some(({ text }) => standsAt(bytes, start, text, window))) return true
      }
    },
    openEnd(text) {
      if (patterns.size === 0) return 0
      const first = Math.max(0, text.length - longest + 1)
      const last = text.length - blockLength
      const widestShift = window - blockLength + 1
      const effort = createEffort(text.length - first)
      const isOpen = (bucket: readonly Pattern[] | undefined, start: number) =>
        bucket?.some((pattern) => pattern.text.length > text.length - start && effort.compare(pattern.text, 0, text.slice(start)))
      // What is at least as wide as the window is found by it.
      for (let at = first + window - blockLength; ; at++) {
        at = nextCandidate(text, at, shifts, widestShift)
        if (at > last) break
        const start = at - window + blockLength
        if (effort.isTooMuch()) return steadyOpenEnd(text, start)
        if (isOpen(byWindow.get(slotAt(text, at)), start)) return text.length - start
      }
      for (let start = Math.max(first, text.length - window + 1); ; start++) {
        start = nextBeginning(text, start, isBeginning)
        if (start > last) break
        if (effort.isTooMuch()) return steadyOpenEnd(text, start)
        if (isOpen(byBeginning.get(slotAt(text, start)), start)) return text.length - start
      }
      return shortOpenEnd(text)
    },
    reach: () => Math.max(longest, blockLength) - 1,
    glance: () => window - 1,
  }
}
const nothing: readonly Found[] = []

const leastEffort = (length: number) => Math.max(64, length / 8)

/** Counts comparisons, the long ones more. What an ordinary text needs is far below its length. */
function createEffort(length: number) {
  let left = leastEffort(length)
  return {
    isTooMuch: () => left < 0,
    compare(text: string, at: number, part: string): boolean {
      left -= 1 + part.length / 64
      return text.startsWith(part, at)
    },
  }
}

/** As much of it as the window is wide. */
function standsAt(bytes: Uint8Array, start: number, text: string, window: number): boolean {
  for (let at = 0; at < window; at++) if (bytes[start + at] !== text.charCodeAt(at)) return false
  return true
}

/** Longer patterns first: of two that begin alike the longer is the one that is there. */
function put(map: Map<number, Pattern[]>, slot: number, pattern: Pattern): void {
  const bucket = map.get(slot)
  if (!bucket) map.set(slot, [pattern])
  else bucket.splice(bucket.filter(({ text }) => text.length > pattern.text.length).length, 0, pattern)
}

function take(map: Map<number, Pattern[]>, slot: number, pattern: Pattern): void {
  const rest = map.get(slot)!.filter((other) => other !== pattern)
  if (rest.length > 0) map.set(slot, rest)
  else map.delete(slot)
}
