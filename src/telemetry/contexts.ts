import { type TraceContext, writeTraceparent } from '../domain/base/trace-context.ts'
import { spanIdOf, turnIdOf } from './span.ts'
import { type Traced, traceOf } from './trace.ts'

/** What goes along with what we ask of others, so that their spans lie below ours. */
export interface Contexts {
  ofTask(task: Traced & { readonly task: string }): TraceContext | undefined
  ofTurn(run: Traced & { readonly run: string }): TraceContext | undefined
  ofCall(
    run: Traced & { readonly run: string },
    call: { readonly number: number; readonly startedAt: Date },
  ): TraceContext | undefined
}

/** A call that was held, or that another provider was asked for in the end, was made more than once. */
export const callIdOf = (run: string, { number, startedAt }: { readonly number: number; readonly startedAt: Date }) =>
  spanIdOf(`${run} ${number} ${startedAt.getTime()}`)

/**
 * Where nobody collects our spans, a context goes on as it came, so that the trace of whoever asked has no holes that we made; and what came without one goes on without:
 * no provider is told an id that is of no use to anybody.
 */
export function createContexts({ isTelling }: { isTelling: boolean }): Contexts {
  const below = (traced: Traced, ownId: () => string): TraceContext | undefined => {
    if (!isTelling) return traced.trace ?? undefined
    const { traceId, isSampled } = traceOf(traced)
    const tracestate = traced.trace?.tracestate
    return {
      traceparent: writeTraceparent({ traceId, spanId: ownId(), isSampled }),
      ...(tracestate === undefined ? {} : { tracestate }),
    }
  }
  return {
    ofTask: (task) => below(task, () => spanIdOf(task.task)),
    ofTurn: (run) => below(run, () => turnIdOf(run.run)),
    ofCall: (run, call) => below(run, () => callIdOf(run.run, call)),
  }
}
