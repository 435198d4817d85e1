import { isObjectOrArray } from '../domain/base/object.ts'
import { formsOf, minSecretLength } from './forms.ts'
import { createSearch, type Found, type Search } from './search.ts'
import { redactShapes } from './shapes.ts'
import { endingRun, findWrapped, mayBeWrappedAcross, type Region, wrappedOpenEnd, wrappedRegions } from './wrapped.ts'

/** Keeps secrets out of what is stored, logged or shown: those it was told, in the forms they are usually written in, and those that look like one. */
export interface Redactor {
  /** Until the answered function is called. A value of less than 8 signs is no secret; one that was added twice must be taken back twice. */
  add(name: string, value: string): () => void
  text(text: string): string
  /** Every text inside, keys included. What holds no secret is answered as it is, not copied. */
  value<T>(value: T): T
  /** Marks as long as what they stand for, so that everything keeps its place. */
  inPlace(bytes: Buffer): Buffer
  /** The same for bytes that come in pieces; only secrets it was told. As many bytes come out as went in. */
  inPlaceOf(pieces: AsyncIterable<Buffer>): AsyncGenerator<Buffer>
  /** For bytes that come in pieces; only secrets it was told. */
  stream(): ByteRedactor
}

export interface ByteRedactor {
  /** Answers what may be written by now, in pieces: the beginning of a secret waits for its rest. Where nothing is hidden they are parts of what was given. */
  write(chunk: Buffer): readonly Buffer[]
  /** Answers what is still held. */
  end(): Buffer
}

/** Agents send what they like; what lies deeper than this is not looked at, so it is not kept either. */
const maxDepth = 200
/** Of texts with a secret in one value. Replacing each takes 20 microseconds; what has more of them is not looked at to its end, so it is not kept either. */
const mostFound = 2_000
const tooMany = '[redacted:too many secrets]'
const mostKeys = 1_000
const longestKey = 100
const tooDeep = '[redacted:too deep to look into]'

const mark = (name: string) => `[redacted:${name}]`
const markOf = (name: string, length: number) => mark(name).slice(0, length).padEnd(length, '*')

interface Held {
  readonly forms: readonly string[]
  count: number
}

export function createRedactor(): Redactor {
  const search = createSearch()
  const text = (given: string) => (given.length < minSecretLength ? given : redactShapes(replaceFound(given, search), mark))

  /** Keys are the same few again and again. */
  const knownKeys = new Map<string, string>()
  const cleanKey = (key: string) => {
    if (key.length < minSecretLength) return key
    const known = knownKeys.get(key)
    if (known !== undefined) return known
    const clean = text(key)
    if (knownKeys.size >= mostKeys) knownKeys.clear()
    if (key.length <= longestKey) knownKeys.set(key, clean)
    return clean
  }

  /** Texts with a secret in the value that is looked at now. */
  let found = 0
  const counted = (given: string, clean: string) => {
    if (clean !== given) found++
    return clean
  }
  const value = (given: unknown, depth: number): unknown => {
    if (found > mostFound) return tooMany
    if (typeof given === 'string') return counted(given, text(given))
    if (!isObjectOrArray(given)) return given
    const isList = Array.isArray(given)
    if (!isList && !isPlain(given)) return given
    if (depth > maxDepth) return tooDeep
    return isList ? list(given, depth + 1) : object(given as Record<string, unknown>, depth + 1)
  }

  /** What holds no secret is nearly everything: nothing is made for it. */
  const list = (given: readonly unknown[], depth: number): readonly unknown[] => {
    let clean: unknown[] | undefined
    for (let at = 0; at < given.length; at++) {
      const item = value(given[at], depth)
      if (item === given[at]) continue
      clean ??= given.slice()
      clean[at] = item
    }
    return clean ?? given
  }
  const object = (given: Readonly<Record<string, unknown>>, depth: number): object => {
    let clean: [string, unknown][] | undefined
    for (const key in given) {
      const inner = given[key]
      const newKey = found > mostFound ? tooMany : counted(key, cleanKey(key))
      const newInner = value(inner, depth)
      if (newKey !== key || newInner !== inner) clean ??= entriesBefore(key, given)
      clean?.push([newKey, newInner])
    }
    return clean ? Object.fromEntries(clean) : given
  }

  /** One value may be a secret under several names. */
  const held = new Map<string, Held>()
  const hold = (secret: string, name: string): Held => {
    const forms = formsOf(secret).flatMap((form) => (beyondAscii.test(form) ? [form, asBytes(form)] : [form]))
    for (const form of forms) search.add(form, name)
    knownKeys.clear()
    const holding = { forms, count: 0 }
    held.set(secret, holding)
    return holding
  }
  const release = (secret: string, { forms }: Held) => {
    for (const form of forms) search.remove(form)
    knownKeys.clear()
    held.delete(secret)
  }

  return {
    add(name, secret) {
      const whole = secret.trim()
      if (whole.length < minSecretLength) return () => {}
      const known = held.get(whole) ?? hold(whole, name.replace(/[^\w .-]/g, '_'))
      known.count++
      let isKnown = true
      return () => {
        if (isKnown && --known.count === 0) release(whole, known)
        isKnown = false
      }
    },
    text,
    // Of the same shape: only texts inside are replaced, by texts.
    value<T>(given: T): T {
      found = 0
      return value(given, 0) as T
    },
    inPlace(bytes) {
      const given = latin1(bytes)
      const clean = redactShapes(replaceFound(given, search, 0, markOf), markOf)
      return clean === given ? bytes : Buffer.from(clean, 'latin1')
    },
    inPlaceOf: (pieces) => inPlaceOf(pieces, search),
    stream: () => createByteRedactor(search),
  }
}

/** So much waits for what follows it: a secret that is cut in two is longer in none of its forms, but for the few that are nearly as long as one may be. */
const heldInPlace = 128 * 1024

async function* inPlaceOf(pieces: AsyncIterable<Buffer>, search: Search): AsyncGenerator<Buffer> {
  let held: Buffer = Buffer.alloc(0)
  for await (const piece of pieces) {
    const bytes = held.length === 0 ? piece : Buffer.concat([held, piece])
    const clean = coveredIn(bytes, search)
    const done = Math.max(0, clean.length - heldInPlace)
    held = clean.subarray(done)
    if (done > 0) yield clean.subarray(0, done)
  }
  if (held.length > 0) yield held
}

/** Most bytes hold nothing, and need not be made a text to know it. */
function coveredIn(bytes: Buffer, search: Search): Buffer {
  if (!search.touches(bytes) && wrappedRegions(bytes, 0).length === 0) return bytes
  const text = latin1(bytes)
  const clean = replaceFound(text, search, 0, markOf)
  return clean === text ? bytes : Buffer.from(clean, 'latin1')
}

/** One sign per byte: so bytes are searched as text is, whatever they mean. */
const latin1 = (bytes: Buffer, start = 0, end = bytes.length) => bytes.toString('latin1', start, end)
const beyondAscii = /[^\0-\x7f]/
const asBytes = (text: string) => latin1(Buffer.from(text))

function createByteRedactor(search: Search): ByteRedactor {
  let held = ''
  /** Of encoded text, written just before what is held. */
  let runBefore = 0
  const textOf = (bytes: Buffer, { start, end }: Region) => latin1(bytes, start, end)
  const runBeforeOf = ({ start }: Region) => (start === 0 ? runBefore : 0)
  const openEnd = (bytes: Buffer, isTouched: boolean, last: Region | undefined) => {
    const looked = isTouched ? search.reach() : search.glance()
    const open = search.openEnd(latin1(bytes, Math.max(0, bytes.length - looked)))
    return last?.end === bytes.length ? Math.max(open, wrappedOpenEnd(textOf(bytes, last), search, runBeforeOf(last))) : open
  }
  const find = (bytes: Buffer, isTouched: boolean, regions: readonly Region[]) => {
    const wrapped = regions.flatMap((region) =>
      findWrapped(textOf(bytes, region), search, runBeforeOf(region)).map((found) => moved(found, region.start)),
    )
    return together(isTouched ? search.find(latin1(bytes)) : [], wrapped)
  }
  const look = (bytes: Buffer): Buffer => {
    // Nearly every chunk holds nothing, which is told by its bytes; only where there may be something they are made a text.
    const isTouched = search.touches(bytes)
    const regions = wrappedRegions(bytes, runBefore)
    const openAt = bytes.length - openEnd(bytes, isTouched, regions.at(-1))
    // A secret may also be the beginning of a longer one; then it waits too.
    const found = find(bytes, isTouched, regions).filter(({ start }) => start < openAt)
    const holdFrom = Math.max(openAt, found.at(-1)?.end ?? 0)
    const done = holdFrom === bytes.length ? bytes : bytes.subarray(0, holdFrom)
    held = latin1(bytes, holdFrom)
    runBefore = endingRun(done, runBefore)
    return found.length === 0 ? done : Buffer.from(replace(latin1(done), found), 'latin1')
  }
  /** Whether something may begin in what is held and go on in what follows it. */
  const mayCross = (before: Buffer, chunk: Buffer) => {
    const near = search.glance()
    if (chunk.length < near || mayBeWrappedAcross(before, chunk, runBefore)) return true
    return search.touches(Buffer.concat([before, chunk.subarray(0, near)]))
  }
  return {
    write(chunk) {
      if (held === '') return pieces(look(chunk))
      // Nearly always a few signs that anything could begin with: they go their way without a copy of all that follows.
      const before = Buffer.from(held, 'latin1')
      if (mayCross(before, chunk)) return pieces(look(Buffer.concat([before, chunk])))
      runBefore = endingRun(before, runBefore)
      return pieces(before, look(chunk))
    },
    end() {
      // Most of a secret is as good as the whole.
      const open = Math.max(search.openEnd(held), wrappedOpenEnd(held, search, runBefore))
      const isPart = held.length >= minSecretLength && open === held.length
      const last = isPart ? mark('cut off') : replaceFound(held, search, runBefore)
      held = ''
      runBefore = 0
      return Buffer.from(last, 'latin1')
    },
  }
}

const pieces = (...bytes: readonly Buffer[]) => bytes.filter(({ length }) => length > 0)

const moved = ({ start, end, name }: Found, by: number): Found => ({ start: start + by, end: end + by, name })

/** Each place once: what is found in lines that were joined may have been found in one of them already. */
function together(found: readonly Found[], wrapped: readonly Found[]): readonly Found[] {
  if (wrapped.length === 0) return found
  const places: Found[] = []
  for (const place of [...found, ...wrapped].sort((a, b) => a.start - b.start)) {
    const last = places.at(-1)
    if (!last || place.start >= last.end) places.push(place)
    else if (place.end > last.end) places[places.length - 1] = { ...last, end: place.end }
  }
  return places
}

function replaceFound(text: string, search: Search, runBefore = 0, marked: typeof markOf = mark): string {
  const found = together(search.find(text), findWrapped(text, search, runBefore))
  return found.length === 0 ? text : replace(text, found, marked)
}

function replace(text: string, found: readonly Found[], marked: typeof markOf = mark): string {
  let written = ''
  let at = 0
  for (const { start, end, name } of found) {
    written += text.slice(at, start) + marked(name, end - start)
    at = end
  }
  return written + text.slice(at)
}

function entriesBefore(key: string, given: Readonly<Record<string, unknown>>): [string, unknown][] {
  const entries: [string, unknown][] = []
  for (const other in given) {
    if (other === key) break
    entries.push([other, given[other]])
  }
  return entries
}

function isPlain(value: object): boolean {
  const prototype: unknown = Object.getPrototypeOf(value)
  return prototype === Object.prototype || prototype === null
}
