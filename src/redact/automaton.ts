/** Follows many texts at once, sign by sign: after each the state is the longest beginning of one of them that the signs read so far end with. */
export interface Automaton {
  next(state: number, sign: number): number
  /** How many signs of a text the state stands for. */
  lengthOf(state: number): number
  /** The longest whole text that the signs read so far end with, as its place in the list; -1 for none. */
  longestAt(state: number): number
  /** The state, or the longest beginning inside it, that is no whole text beyond which nothing follows. */
  unfinished(state: number): number
}

export const rootState = 0

/** After Aho and Corasick. Its time depends on the number of signs alone, never on what they are, but it looks at every one of them. */
export function createAutomaton(texts: readonly string[]): Automaton {
  const mostStates = texts.reduce((sum, { length }) => sum + length, 1)
  const parents = new Int32Array(mostStates)
  const signs = new Uint16Array(mostStates)
  const lengths = new Int32Array(mostStates)
  const wholes = new Int32Array(mostStates).fill(-1)
  const suffixes = new Int32Array(mostStates)
  // Nearly every state has one child, the one made after it: there the next sign is found in the next place of memory.
  const firstChildren = new Int32Array(mostStates)
  const otherChildren = new Map<number, Map<number, number>>()
  const hasOthers = new Uint8Array(mostStates)
  // And the first has many, and is where one is most of the time.
  const beginnings = new Int32Array(1 << 16)
  let states = 1

  const childOf = (state: number, sign: number): number => {
    if (state === rootState) return beginnings[sign]!
    const first = firstChildren[state]!
    if (first !== 0 && signs[first] === sign) return first
    return hasOthers[state] === 0 ? 0 : (otherChildren.get(state)!.get(sign) ?? 0)
  }
  const createChild = (state: number, sign: number): number => {
    const child = states++
    parents[child] = state
    signs[child] = sign
    lengths[child] = lengths[state]! + 1
    const others = otherChildren.get(state)
    if (state === rootState) beginnings[sign] = child
    else if (firstChildren[state] === 0) firstChildren[state] = child
    else if (others) others.set(sign, child)
    else {
      hasOthers[state] = 1
      otherChildren.set(state, new Map([[sign, child]]))
    }
    return child
  }
  texts.forEach((text, index) => {
    let state = rootState
    for (let at = 0; at < text.length; at++) {
      const sign = text.charCodeAt(at)
      state = childOf(state, sign) || createChild(state, sign)
    }
    wholes[state] = index
  })

  const next = (from: number, sign: number) => {
    for (let state = from; ; state = suffixes[state]!) {
      const child = childOf(state, sign)
      if (child !== 0 || state === rootState) return child
    }
  }
  // Shorter beginnings first: what a state falls back to is always shorter.
  const byLength = Int32Array.from({ length: states }, (_, state) => state).sort((a, b) => lengths[a]! - lengths[b]!)
  for (const state of byLength) {
    const parent = parents[state]!
    if (parent !== rootState) suffixes[state] = next(suffixes[parent]!, signs[state]!)
    if (wholes[state] === -1 && state !== rootState) wholes[state] = wholes[suffixes[state]!]!
  }

  return {
    next,
    lengthOf: (state) => lengths[state]!,
    longestAt: (state) => wholes[state]!,
    unfinished(from) {
      let state = from
      while (state !== rootState && firstChildren[state] === 0) state = suffixes[state]!
      return state
    },
  }
}
