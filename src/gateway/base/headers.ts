import type { TraceContext } from '../../domain/base/trace-context.ts'

/** Names and values in turn, as they go on the wire. */
export type RawHeaders = readonly string[]

const ofConnection = [
  'connection',
  'keep-alive',
  'proxy-authenticate',
  'proxy-authorization',
  'proxy-connection',
  'te',
  'trailer',
  'transfer-encoding',
  'upgrade',
]
const ofClient = new Set([...ofConnection, 'host', 'content-length', 'expect', 'accept-encoding', 'content-encoding'])
const authorizing = new Set(['x-api-key', 'authorization', 'x-goog-api-key', 'api-key', 'cookie'])
/** Whose bill it is goes by the key alone. */
const charging = new Set(['openai-organization', 'openai-project', 'x-goog-user-project'])
/** Some services take the method from these. */
const overriding = new Set(['x-http-method-override', 'x-http-method', 'x-method-override'])
const ofProvider = new Set([...ofConnection, 'content-length', 'content-encoding'])

/** A client's headers as they go to the provider: who asks is replaced, what is about the connection stays behind, and what comes back must be readable. */
export function outgoing(raw: RawHeaders, authorization: Readonly<Record<string, string>>): string[] {
  const headers = without(
    raw,
    (name) => ofClient.has(name) || authorizing.has(name) || charging.has(name) || overriding.has(name),
  )
  headers.push('accept-encoding', 'identity')
  for (const name in authorization) if (authorizing.has(name) || !has(headers, name)) headers.push(name, authorization[name]!)
  return headers
}

/** With our own context in the place of one that the client brings: its calls are parts of the run, whatever it knows of that. */
export function traced(headers: RawHeaders, context: TraceContext | undefined): RawHeaders {
  if (!context) return headers
  const { traceparent, tracestate } = context
  const others = without(headers, (name) => name === 'traceparent' || name === 'tracestate')
  return [...others, 'traceparent', traceparent, ...(tracestate === undefined ? [] : ['tracestate', tracestate])]
}

/** The value of a header, all of them where it is there several times; its name in small letters. */
export function headerIn(headers: RawHeaders, name: string): string | undefined {
  let value: string | undefined
  for (let at = 0; at < headers.length; at += 2)
    if (headers[at]!.length === name.length && headers[at]!.toLowerCase() === name)
      value = value === undefined ? headers[at + 1]! : `${value}, ${headers[at + 1]!}`
  return value
}

function has(headers: RawHeaders, name: string): boolean {
  return headerIn(headers, name) !== undefined
}

/** A provider's headers without those that are about its connection to us. */
export const withoutConnection = (raw: RawHeaders) => without(raw, (name) => ofProvider.has(name))

/** By their names in small letters; the first, where one is there several times. */
export function named(headers: RawHeaders): Record<string, string> {
  const result: Record<string, string> = {}
  for (let at = 0; at < headers.length; at += 2) result[headers[at]!.toLowerCase()] ??= headers[at + 1]!
  return result
}

/** A client's headers as they may be kept: without what it proves itself by. */
export function recordable(raw: RawHeaders): Record<string, string> {
  const headers: Record<string, string> = {}
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    if (!authorizing.has(name)) headers[name] = raw[at + 1]!
  }
  return headers
}

function without(raw: RawHeaders, drops: (name: string) => boolean): string[] {
  const named = namedByConnection(raw)
  const headers: string[] = []
  for (let at = 0; at < raw.length; at += 2) {
    const name = raw[at]!.toLowerCase()
    if (!drops(name) && !named?.has(name)) headers.push(raw[at]!, raw[at + 1]!)
  }
  return headers
}

/** Headers that `Connection` names are about the connection too. */
function namedByConnection(raw: RawHeaders): Set<string> | undefined {
  const value = headerIn(raw, 'connection')?.toLowerCase()
  if (value === undefined || value === 'keep-alive' || value === 'close') return undefined
  return new Set(value.split(',').map((name) => name.trim()))
}
