import { type Automaton, createAutomaton, rootState } from './automaton.ts'
import type { Found, Pattern } from './search.ts'

/** Searches in the same time whatever the text is. Its automata are built when they are needed for the first time since a pattern came or went. */
export function createSteadySearch(patterns: ReadonlyMap<string, Pattern>) {
  let forward: Automaton | undefined
  let backward: { readonly automaton: Automaton; readonly patterns: readonly Pattern[] } | undefined
  return {
    forget() {
      forward = undefined
      backward = undefined
    },
    /** Read from the end: then it knows, at each place, the longest pattern that begins there. */
    find(text: string, from: number): Found[] {
      backward ??= { automaton: createAutomaton([...patterns.keys()].map(reversed)), patterns: [...patterns.values()] }
      const { automaton } = backward
      const begins = new Int32Array(text.length - from)
      for (let at = text.length - 1, state = rootState; at >= from; at--) {
        state = automaton.next(state, text.charCodeAt(at))
        begins[at - from] = automaton.longestAt(state)
      }
      const found: Found[] = []
      for (let start = from; start < text.length; ) {
        const index = begins[start - from]!
        if (index < 0) {
          start++
          continue
        }
        const { text: secret, name } = backward.patterns[index]!
        found.push({ start, end: start + secret.length, name })
        start += secret.length
      }
      return found
    },
    openEnd(text: string, from: number): number {
      forward ??= createAutomaton([...patterns.keys()])
      let state = rootState
      for (let at = from; at < text.length; at++) state = forward.next(state, text.charCodeAt(at))
      return forward.lengthOf(forward.unfinished(state))
    },
  }
}

/** Sign by sign, as the search reads them: halves of a pair too. */
function reversed(text: string): string {
  let written = ''
  for (let at = text.length - 1; at >= 0; at--) written += text[at]
  return written
}
