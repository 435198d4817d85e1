import { isObjectOrArray } from '../../domain/base/object.ts'
import { firstDifference, type JsonPlace } from './difference.ts'
import { type Piece, type SplitBody, sha256 } from './pieces.ts'
import type { RecordedCall } from './read.ts'

export interface AskedCall {
  readonly method: string
  /** Without a key in its query. */
  readonly path: string
  readonly body: SplitBody | { readonly text: string }
}

export interface Divergence {
  /** The recorded call that is most like what was asked; undefined if none is left that could be meant. */
  readonly call?: number | undefined
  readonly method: string
  readonly path: string
  /** Where the two first differ. */
  readonly at?: string | undefined
  readonly recorded?: string | undefined
  readonly asked?: string | undefined
}

export interface MatchOptions {
  readonly normalise: (text: string) => string
  /** The recorded answers were of another model. */
  readonly anyModel?: boolean | undefined
  /** A call may be answered more than once. */
  readonly mayRepeat?: boolean | undefined
}

/** As often as programs try by themselves. */
const mostRepeats = 5

/** Finds the recorded call that a request is the same as. Each is found once, the earliest first, and only the last one again, so conversations side by side do not get into each other's way. */
export interface Matcher {
  take(asked: AskedCall): RecordedCall | Divergence
  /** Calls that nobody has asked for yet. */
  left(): RecordedCall[]
}

export const isDivergence = (found: RecordedCall | Divergence): found is Divergence => !('number' in found)

export function createMatcher(calls: readonly RecordedCall[], { normalise, anyModel, mayRepeat }: MatchOptions): Matcher {
  const normal = normalForm(normalise)
  const route = ({ method, path }: Pick<AskedCall, 'method' | 'path'>) =>
    `${method} ${anyModel ? path.replace(/\/models\/[^/:]+/, '/models/<model>') : path}`
  const marksOf = ({ body }: Pick<AskedCall, 'body'>) => (anyModel ? normal.conversation(body) : normal.marks(body))
  const known = calls.map((call) => ({ call, route: route(call), marks: marksOf(call), isTaken: false }))
  let last: (typeof known)[number] | undefined
  let repeats = 0
  /** A program that has lost an answer, or thinks so, asks for it once more. */
  const repeated = (same: readonly (typeof known)[number][]) =>
    last && same.includes(last) && ++repeats <= mostRepeats ? last : undefined

  return {
    take(asked) {
      const wanted = route(asked)
      const marks = marksOf(asked)
      const same = known.filter((one) => one.route === wanted && isSame(one.marks, marks))
      const found = same.find(({ isTaken }) => !isTaken) ?? (mayRepeat ? same.at(-1) : repeated(same))
      if (found) {
        if (!found.isTaken) repeats = 0
        found.isTaken = true
        last = found
        return found.call
      }
      const { method, path } = asked
      let nearest: (typeof known)[number] | undefined
      let most = -1
      for (const one of known) {
        if ((one.isTaken && !mayRepeat) || one.route !== wanted) continue
        const alike = likeness(one.marks, marks)
        if (alike > most) [nearest, most] = [one, alike]
      }
      if (!nearest) return { method, path }
      const place = differing(nearest.call.body, asked.body, nearest.marks, marks)
      return { method, path, call: nearest.call.number, at: place.at, recorded: place.one, asked: place.other }
    },
    left: () => known.flatMap(({ call, isTaken }) => (isTaken ? [] : [call])),
  }

  function differing(recorded: RecordedCall['body'], asked: AskedCall['body'], one: Marks, other: Marks): JsonPlace {
    const name = [...new Set([...one.keys(), ...other.keys()])].find((key) => one.get(key) !== other.get(key)) ?? ''
    return firstDifference(name, normal.value(partNamed(recorded, name)), normal.value(partNamed(asked, name)))
  }
}

/** What tells a provider who asks, and not what is asked. */
const aboutAsker = ['metadata', 'client_metadata', 'user', 'prompt_cache_key', 'safety_identifier']

/** A digest of each part of a body by its place, in order. */
type Marks = ReadonlyMap<string, string>

function normalForm(normalise: (text: string) => string) {
  const known = new Map<string, string>()
  const value = (given: unknown): unknown => {
    if (typeof given === 'string') return normalise(given)
    if (Array.isArray(given)) return given.map(value)
    if (!isObjectOrArray(given)) return given
    // Some programs write them in another order each time.
    const entries = Object.entries(given).toSorted(([one], [other]) => (one < other ? -1 : 1))
    return Object.fromEntries(entries.map(([key, inner]) => [key, value(inner)]))
  }
  const markOf = (given: unknown) => sha256(JSON.stringify(value(given)) ?? '')
  /** Requests share nearly all of their pieces: each is looked at once. */
  const markOfPiece = ({ value: given, sha256: raw }: Piece) => {
    const mark = known.get(raw) ?? markOf(given)
    known.set(raw, mark)
    return mark
  }
  const marks = (body: AskedCall['body']): Marks => {
    if ('text' in body) return new Map([['', sha256(normalise(body.text))]])
    const found = new Map<string, string>()
    for (const key of body.order) {
      if (aboutAsker.includes(key)) continue
      const piece = body.pieces[key]
      if (piece === undefined) found.set(key, markOf(body.fields[key]))
      else if (isList(piece)) for (const [at, one] of piece.entries()) found.set(`${key}[${at}]`, markOfPiece(one))
      else found.set(key, markOfPiece(piece))
    }
    return found
  }
  /** What programs say of themselves and of the place before the first answer, and how they want it answered, is different for each model. */
  const conversation = (body: AskedCall['body']): Marks => {
    if ('text' in body) return marks(body)
    const found = new Map([['tools', String(body.order.includes('tools'))]])
    for (const key of ['messages', 'input', 'contents']) {
      const list = body.pieces[key]
      if (list === undefined || !isList(list)) continue
      const answered = list.findIndex((piece) => isAnswer(piece.value))
      for (const [at, piece] of list.entries())
        found.set(`${key}[${at}]`, answered === -1 || at < answered ? 'asked' : markOfPiece(piece))
    }
    return found
  }
  return { value, marks, conversation }
}

/** Something that a model said. */
function isAnswer(value: unknown): boolean {
  const { role, type } = value as { role?: unknown; type?: unknown }
  return role === 'assistant' || role === 'model' || type === 'function_call' || type === 'reasoning'
}

const isList = (piece: Piece | readonly Piece[]): piece is readonly Piece[] => Array.isArray(piece)

function isSame(one: Marks, other: Marks): boolean {
  return one.size === other.size && likeness(one, other) === one.size
}

function likeness(one: Marks, other: Marks): number {
  let alike = 0
  for (const [key, mark] of one) if (other.get(key) === mark) alike++
  return alike
}

function partNamed(body: AskedCall['body'], name: string): unknown {
  if ('text' in body) return body.text
  const [, key = name, at] = /^(.*)\[(\d+)\]$/.exec(name) ?? []
  const piece = body.pieces[key]
  if (piece === undefined) return body.fields[key]
  return isList(piece) ? piece[Number(at)]?.value : piece.value
}
