import { invalid } from '../../domain/error.ts'
import { type Accepts, type Assertion, isWord, type Node, parse } from './parse.ts'

/**
 * Regular expressions that take time in proportion to the text, however cruel they are: all ways to match are followed at once, and each set of ways that was met is
 * kept. The language's own would let a model, or whoever wrote what it read, hold up the whole process with one pattern.
 */
export interface Regex {
  /** Does it match anywhere in this line? */
  test(line: string): boolean
  /** The same in pieces that take a moment each; undefined as long as it is not known. */
  resume(search: Search): boolean | undefined
}

export interface Search {
  readonly line: string
  at: number
  state?: State
}

const mostSteps = 4_000
const mostStates = 2_000
/** Of steps that had to be thought out anew. Beyond it a search is given up. */
const mostWork = 20_000_000
/** Of one piece. */
const workOfPiece = 100_000
/** Of one piece that is known already. */
const charactersOfPiece = 1_000_000

type Step =
  | { readonly kind: 'char'; readonly accepts: Accepts; readonly next: number }
  | { readonly kind: 'split'; readonly next: readonly number[] }
  | { readonly kind: 'assert'; readonly what: Assertion; readonly next: number }
  | { readonly kind: 'match' }

type Before = 'start' | 'word' | 'other'

export interface State {
  readonly pending: readonly number[]
  readonly before: Before
  readonly ascii: (State | 'match' | undefined)[]
  readonly others: Map<number, State | 'match'>
}

export function compileRegex(pattern: string, options: { ignoreCase?: boolean } = {}): Regex {
  const { node, ignoreCase } = parse(pattern)
  return createRegex(node, { ignoreCase: ignoreCase || (options.ignoreCase ?? false) })
}

export function createRegex(node: Node, { ignoreCase = false } = {}): Regex {
  const { steps, first } = stepsOf(node, ignoreCase)
  const states = new Map<string, State>()
  let work = 0

  function stateOf(pending: readonly number[], before: Before): State {
    const key = `${before} ${pending.join()}`
    const known = states.get(key)
    if (known) return known
    if (states.size >= mostStates) states.clear()
    const state: State = { pending, before, ascii: [], others: new Map() }
    states.set(key, state)
    return state
  }

  const marks = new Uint32Array(steps.length)
  let mark = 0

  /** Every step that is reached without taking a character, when `point` comes next; undefined is the end. */
  function reached(state: State, point: number | undefined): number[] {
    mark++
    const seen: number[] = []
    const open = [...state.pending, first]
    for (let at = open.pop(); at !== undefined; at = open.pop()) {
      if (marks[at] === mark) continue
      marks[at] = mark
      seen.push(at)
      const step = steps[at]!
      if (step.kind === 'split') open.push(...step.next)
      else if (step.kind === 'assert' && holds(step.what, state.before, point)) open.push(step.next)
    }
    work += seen.length
    if (work > mostWork) throw invalid('This pattern takes too long here; make it simpler, or search in fewer files.')
    return seen
  }

  function take(state: State, point: number): State | 'match' {
    const next = new Set<number>()
    for (const at of reached(state, point)) {
      const step = steps[at]!
      if (step.kind === 'match') return 'match'
      if (step.kind === 'char' && step.accepts(point)) next.add(step.next)
    }
    return stateOf(
      [...next].toSorted((a, b) => a - b),
      isWord(point) ? 'word' : 'other',
    )
  }

  function resume(search: Search): boolean | undefined {
    const { line } = search
    const end = Math.min(line.length, search.at + charactersOfPiece)
    const before = work
    let state = search.state ?? stateOf([], 'start')
    let i = search.at
    for (; i < end && work - before < workOfPiece; i++) {
      const unit = line.charCodeAt(i)
      let next: State | 'match' | undefined
      if (unit < 128) {
        next = state.ascii[unit] ??= take(state, unit)
      } else {
        const point = line.codePointAt(i)!
        if (point > 0xffff) i++
        next = state.others.get(point) ?? take(state, point)
        if (state.others.size < 1_000) state.others.set(point, next)
      }
      if (next === 'match') return true
      state = next
    }
    if (i >= line.length) return reached(state, undefined).some((at) => steps[at]!.kind === 'match')
    search.at = i
    search.state = state
    return undefined
  }

  return {
    resume,
    test(line) {
      const search: Search = { line, at: 0 }
      let result = resume(search)
      while (result === undefined) result = resume(search)
      return result
    },
  }
}

function holds(what: Assertion, before: Before, point: number | undefined): boolean {
  if (what === 'start') return before === 'start'
  if (what === 'end') return point === undefined
  const isBoundary = (before === 'word') !== (point !== undefined && isWord(point))
  return isBoundary === (what === 'boundary')
}

/** The tree as steps, written from its end to its beginning, so that each knows what follows. */
function stepsOf(node: Node, ignoreCase: boolean): { steps: Step[]; first: number } {
  const steps: Step[] = []
  const add = (step: Step) => {
    if (steps.length >= mostSteps)
      throw invalid('The pattern is too large once its repetitions are written out; make it simpler.')
    return steps.push(step) - 1
  }
  const write = (part: Node, next: number): number => {
    switch (part.kind) {
      case 'char':
        return add({ kind: 'char', accepts: ignoreCase ? inAnyCase(part.accepts) : part.accepts, next })
      case 'assert':
        return add({ kind: 'assert', what: part.what, next })
      case 'sequence':
        return part.parts.toReversed().reduce((after, each) => write(each, after), next)
      case 'either':
        return add({ kind: 'split', next: part.parts.map((each) => write(each, next)) })
      case 'repeat':
        return writeRepeat(part, next)
    }
  }
  function writeRepeat({ part, least, most }: Extract<Node, { kind: 'repeat' }>, next: number): number {
    let after = next
    if (most === Infinity) {
      const again: number[] = []
      const loop = add({ kind: 'split', next: again })
      again.push(write(part, loop), next)
      after = loop
    } else for (let n = least; n < most; n++) after = add({ kind: 'split', next: [write(part, after), next] })
    for (let n = 0; n < least; n++) after = write(part, after)
    return after
  }
  const end = add({ kind: 'match' })
  return { steps, first: write(node, end) }
}

function inAnyCase(accepts: Accepts): Accepts {
  return (point) => {
    const char = String.fromCodePoint(point)
    return [char, char.toLowerCase(), char.toUpperCase()].some((each) => accepts(each.codePointAt(0)!))
  }
}
