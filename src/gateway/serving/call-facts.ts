import type { Clock } from '../../base/clock.ts'
import type { Route } from '../base/route.ts'
import type { CallFacts } from '../money/purse.ts'
import type { Delivery } from '../provider/delivery.ts'
import type { Call } from './call.ts'

/** What becomes known of one try. */
export interface AttemptFacts {
  readonly startedAt: Date
  /** The provider's. */
  status: number | undefined
  /** The first piece of the answer came. */
  first(): void
  end(delivery: Delivery): CallFacts
}

export function factsOf(clock: Clock, call: Call, route: Route): AttemptFacts {
  const startedAt = new Date(clock.now())
  const started = clock.monotonic()
  let firstMs: number | undefined
  return {
    startedAt,
    status: undefined,
    first() {
      firstMs ??= clock.monotonic() - started
    },
    end({ usage, usageSoFar, refusal, isAbandoned }) {
      return {
        number: call.number,
        route,
        asked: call.head.model,
        translated: route.provider.wire !== call.wire.name,
        streamed: call.head.streams,
        startedAt,
        durationMs: clock.monotonic() - started,
        ...(firstMs !== undefined && { firstMs }),
        ...(this.status !== undefined && { status: this.status }),
        ...(usage && { usage }),
        ...(usageSoFar && { usageSoFar }),
        ...(refusal && { refusal }),
        ...(isAbandoned && { abandoned: true }),
      }
    },
  }
}
