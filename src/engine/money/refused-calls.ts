import type { Clock } from '../../base/clock.ts'
import type { CallFacts } from '../../gateway/money/purse.ts'

/** Calls that no provider has served cost nothing, so nothing but this keeps a program that asks on and on from filling the journal. */
export interface RefusedCalls {
  /** How many before it are told with this one; undefined if it is not told by itself. */
  add(call: CallFacts): number | undefined
  /** Those that are still to be told: the last of each kind, and how many were before it. */
  rest(): { readonly call: CallFacts; readonly alike: number }[]
}

/** Of each kind so many are told one by one, and the others together after a while. */
const toldSingly = 20
const tellAfterMs = 10_000

export function createRefusedCalls(clock: Clock): RefusedCalls {
  const kinds = new Map<string, { count: number; held: number; last: CallFacts; tellAt: number }>()
  return {
    add(call) {
      const key = `${call.route.provider.name}\n${call.refusal?.kind ?? 'abandoned'}`
      const kind = kinds.get(key) ?? { count: 0, held: 0, last: call, tellAt: 0 }
      kinds.set(key, kind)
      const now = clock.monotonic()
      if (kind.count++ < toldSingly) {
        kind.tellAt = now + tellAfterMs
        return 0
      }
      if (now < kind.tellAt) {
        kind.held++
        kind.last = call
        return undefined
      }
      const { held } = kind
      kind.held = 0
      kind.tellAt = now + tellAfterMs
      return held
    },
    rest() {
      const left = [...kinds.values()].filter(({ held }) => held > 0).map(({ last, held }) => ({ call: last, alike: held - 1 }))
      for (const kind of kinds.values()) kind.held = 0
      return left
    },
  }
}
