import type { Whose } from './reserve.ts'

/** What the first call of a run could cost, by what it came to for the last run of the same agent and model. Forgotten with the process. */
export interface FirstCalls {
  of(caller: Caller): FirstCall | undefined
  was(caller: Caller, call: FirstCall): void
}

export interface FirstCall {
  readonly units: number
  readonly route: Whose
}

interface Caller {
  readonly agent: string
  readonly model: string | undefined
}

/** More agents than anybody has; the oldest goes. */
const mostKept = 1_000

export function createFirstCalls(): FirstCalls {
  const known = new Map<string, FirstCall>()
  const keyOf = ({ agent, model = '' }: Caller) => `${agent}\0${model}`
  return {
    of: (caller) => known.get(keyOf(caller)),
    was(caller, call) {
      const key = keyOf(caller)
      known.delete(key)
      known.set(key, call)
      if (known.size <= mostKept) return
      for (const oldest of known.keys()) return void known.delete(oldest)
    },
  }
}
