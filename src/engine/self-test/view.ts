import { type Canary, canaries, canaryNames } from './canaries.ts'
import type { SelfTest } from './self-test.ts'

/** A self-test as it is shown: by the doctor, by the health route and by the API. Plain JSON. */
export interface SelfTestView {
  readonly profile: string
  readonly passed: boolean
  readonly at: string
  readonly ms: number
  readonly failure?: string
  readonly canaries: readonly {
    readonly name: Canary
    readonly verdict: 'held' | 'escaped' | 'untested'
    readonly detail: string
  }[]
}

export function viewOf(profile: string, test: SelfTest): SelfTestView {
  const rows = canaryNames.map((name): SelfTestView['canaries'][number] => {
    const escaped = test.escaped.find(({ canary }) => canary === name)
    if (escaped) return { name, verdict: 'escaped', detail: escaped.sentence }
    const untested = test.untested.find(({ canary }) => canary === name)
    if (untested || test.failure !== undefined) return { name, verdict: 'untested', detail: untested?.why ?? '' }
    return { name, verdict: 'held', detail: `Refused: ${lowered(canaries[name])}` }
  })
  const { passed, ms, failure } = test
  return {
    profile,
    passed,
    at: new Date(test.at).toISOString(),
    ms,
    ...(failure === undefined ? {} : { failure }),
    canaries: rows,
  }
}

const lowered = (sentence: string) => sentence.charAt(0).toLowerCase() + sentence.slice(1)
