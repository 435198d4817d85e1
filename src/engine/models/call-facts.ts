import type { Verdict } from '../../agents/port.ts'
import type { Category } from '../../domain/run/outcome.ts'
import type { CallFacts } from '../../gateway/money/purse.ts'
import type { RefusalKind } from '../../gateway/wires/model-event.ts'

type Refused = NonNullable<CallFacts['refusal']>

/** Remembers how the model was last heard: what it refused last counts until it has served something that was asked later. */
export interface LastWord {
  heard(call: CallFacts): void
  /** We ourselves have refused something, before it was a call of any model. */
  refused(refusal: Refused): void
  readonly refusal: Refused | undefined
}

export function createLastWord(): LastWord {
  let lastNumber = 0
  let servedNumber = 0
  let refused: { readonly number: number; readonly refusal: Refused } | undefined
  return {
    heard({ number, refusal, abandoned }) {
      lastNumber = Math.max(lastNumber, number)
      if (abandoned) return
      if (!refusal) servedNumber = Math.max(servedNumber, number)
      else if (number >= (refused?.number ?? 0)) refused = { number, refusal }
    },
    refused(refusal) {
      // After all that was heard so far, and before whatever comes next.
      refused = { number: lastNumber + 0.5, refusal }
    },
    get refusal() {
      return refused && refused.number > servedNumber ? refused.refusal : undefined
    },
  }
}

/** What a refusal means for the run. What the program itself has done wrong is best said by the program. */
const categoryOf: Partial<Record<RefusalKind, Category>> = {
  rate_limited: 'rate_limited',
  usage_limit: 'usage_limit',
  overloaded: 'overloaded',
  unavailable: 'network',
  timed_out: 'network',
  unauthorized: 'auth_failed',
  forbidden: 'auth_failed',
  not_found: 'bad_config',
  context_overflow: 'context_overflow',
  over_budget: 'budget_exceeded',
}

/** Of a run that came to nothing: what the gateway knows of its last call wins over what was guessed from the program's words. */
export function withFacts(verdict: Verdict, refusal: Refused | undefined): Verdict {
  const category = refusal && categoryOf[refusal.kind]
  if (!category || (verdict.outcome !== 'failed' && verdict.outcome !== 'empty')) return verdict
  const { kind, message, retryAt } = refusal
  const isLimit = kind === 'rate_limited' || kind === 'usage_limit' || kind === 'overloaded'
  return {
    ...verdict,
    outcome: 'failed',
    category,
    message,
    retryAt: isLimit ? retryAt : undefined,
    isUnexplained: false,
  }
}
