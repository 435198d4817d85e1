// Without the schema library on purpose: the client imports this file, and its start-up pays for every import.

/** The span of somebody else that asked for a task, as W3C Trace Context writes it. */
export interface TraceContext {
  readonly traceparent: string
  readonly tracestate?: string | undefined
}

/** Whatever holds the two values by name: headers of HTTP, metadata of gRPC, `_meta` of MCP. */
export type TraceCarrier = { get(name: string): unknown } | Readonly<Record<string, unknown>> | null | undefined

/** The context that came with a request. What is malformed is as good as none: it must never keep work from being taken. */
export function traceContextOf(carrier: TraceCarrier): TraceContext | undefined {
  const traceparent = normalized(valueIn(carrier, 'traceparent'))
  if (traceparent === undefined) return undefined
  const tracestate = valueIn(carrier, 'tracestate')
  return { traceparent, ...(tracestate && isState(tracestate) ? { tracestate } : {}) }
}

/** A context as headers of what is sent on. */
export const traceHeaders = ({ traceparent, tracestate }: Partial<TraceContext> = {}): Record<string, string> => ({
  ...(traceparent === undefined ? {} : { traceparent }),
  ...(tracestate === undefined ? {} : { tracestate }),
})

export interface TraceParent {
  readonly traceId: string
  readonly spanId: string
  /** Whoever began the trace wants its spans. */
  readonly isSampled: boolean
}

export function readTraceparent(traceparent: string): TraceParent {
  const [, traceId = '', spanId = '', flags = ''] = traceparent.split('-')
  return { traceId, spanId, isSampled: (Number.parseInt(flags, 16) & 1) === 1 }
}

export const writeTraceparent = ({ traceId, spanId, isSampled }: TraceParent) =>
  `00-${traceId}-${spanId}-${isSampled ? '01' : '00'}`

const form = /^([0-9a-f]{2})-([0-9a-f]{32})-([0-9a-f]{16})-([0-9a-f]{2})(-.*)?$/

/** A later version begins like this one, and what it adds is not known here. */
function normalized(value: string | undefined): string | undefined {
  const [, version, trace = '', span = '', flags, more] = form.exec(value?.trim() ?? '') ?? []
  if (version === undefined || version === 'ff' || (version === '00' && more !== undefined)) return undefined
  if (/^0+$/.test(trace) || /^0+$/.test(span)) return undefined
  return `00-${trace}-${span}-${flags}`
}

const isState = (text: string) => text.length <= 512 && /^[\x20-\x7e]+$/.test(text)

function valueIn(carrier: TraceCarrier, name: string): string | undefined {
  if (!carrier) return undefined
  const found = typeof carrier.get === 'function' ? carrier.get(name) : own(carrier as Readonly<Record<string, unknown>>, name)
  // Metadata of gRPC is a list; a context that comes twice is none.
  const one = Array.isArray(found) ? (found.length === 1 ? found[0] : undefined) : found
  return typeof one === 'string' ? one : undefined
}

function own(carrier: Readonly<Record<string, unknown>>, name: string): unknown {
  const key = Object.hasOwn(carrier, name) ? name : Object.keys(carrier).find((each) => each.toLowerCase() === name)
  return key === undefined ? undefined : carrier[key]
}
