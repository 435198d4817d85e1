import { readTraceparent, type TraceContext } from '../domain/base/trace-context.ts'
import { traceIdOf } from './span.ts'

/** Whose trace is asked for: the topmost task, and the context that it came with. */
export interface Traced {
  readonly root: string
  readonly trace?: TraceContext | null | undefined
}

export interface Trace {
  readonly traceId: string
  /** The span of whoever asked. */
  readonly above?: string | undefined
  /** False where whoever asked wants no spans of this: what lies below follows. */
  readonly isSampled: boolean
}

/** A task and everything below it is one trace: the one that it was asked for in, or else its own. */
export function traceOf({ root, trace }: Traced): Trace {
  if (!trace) return { traceId: traceIdOf(root), isSampled: true }
  const { traceId, spanId, isSampled } = readTraceparent(trace.traceparent)
  return { traceId, above: spanId, isSampled }
}
