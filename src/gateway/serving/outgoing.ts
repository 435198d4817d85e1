import { invalid } from '../../domain/error.ts'
import { outgoing, type RawHeaders } from '../base/headers.ts'
import type { Route } from '../base/route.ts'
import { boundOutput, boundRequest, leastOutput, leastTokens } from '../money/bounded-output.ts'
import { modelEdits } from '../provider/decisive-fields.ts'
import { withOwnSeals } from '../provider/own-seals.ts'
import { withoutServerTools } from '../provider/server-tools.ts'
import { withProviderNames } from '../provider/tool-names.ts'
import { mustAskForUsage, usageAsking } from '../provider/usage-asking.ts'
import { wires } from '../wires/index.ts'
import { edited } from '../wires/json-members.ts'
import type { JsonObject, ModelRequest } from '../wires/model-request.ts'
import type { Wire } from '../wires/wire.ts'
import { type Call, type Payload, payloadOf } from './call.ts'

/** What goes to a provider in place of a call. */
export interface Outgoing {
  readonly wire: Wire
  readonly path: string
  readonly headers: RawHeaders
  readonly body: Buffer
  /** That by which we ask; no client is to see it. */
  readonly key: string | undefined
  /** What was asked, where it had to be translated. */
  readonly foreign?: ForeignRequest | undefined
  /** How few tokens its answer may be bounded to; undefined where it cannot be. */
  readonly leastOutputTokens?: number | undefined
  /** The body that asks for an answer of no more than so many tokens. */
  bounded(tokens: number): Buffer
  /** We asked for the usage in the client's place, so it does not know what the frame that tells it is. */
  readonly hidesUsage: boolean
}

export interface ForeignRequest {
  /** Without the messages, which would be kept as long as the answer takes. */
  readonly request: ModelRequest
  /** As the client calls the tool that the provider's model calls so. */
  clientName(tool: string): string
}

/** Throws a `PawlError` that says what cannot be sent there. */
export async function outgoingTo(route: Route, call: Call): Promise<Outgoing> {
  const { provider } = route
  const wire = wires[provider.wire]
  const key = await provider.key()
  const payload = allowed(route, call, payloadOf(call))
  const to = { route, wire, key, authorization: key === undefined ? {} : wire.authorization(key) }
  return wire === call.wire ? passed(to, call, payload) : translated(to, call, payload)
}

/** The request as this provider may have it. */
function allowed({ provider }: Route, { wire, asked }: Call, payload: Payload): Payload {
  if (provider.serverTools === true || asked.kind !== 'generate') return payload
  const bytes = withoutServerTools(wire.name, payload.bytes, payload.body)
  return bytes === payload.bytes ? payload : { bytes, body: JSON.parse(bytes.toString('utf8')) as JsonObject }
}

interface To {
  readonly route: Route
  readonly wire: Wire
  readonly key: string | undefined
  readonly authorization: Readonly<Record<string, string>>
}

function passed({ route, wire, key, authorization }: To, call: Call, payload: Payload): Outgoing {
  const { asked } = call
  const { body } = payload
  const bytes = call.seals.without(route.provider.account, payload.bytes, body)
  const hidesUsage = asked.kind === 'generate' && mustAskForUsage(wire.name, body)
  const edits = modelEdits(bytes, route.target)
  if (hidesUsage) edits.push(...usageAsking(bytes))
  const sent = edited(
    bytes,
    edits.sort((one, other) => one.start - other.start),
  )
  return {
    wire,
    key,
    path: asked.model === undefined ? call.path : pathFor(call.path, asked.model, route.target),
    headers: outgoing(call.headers, authorization),
    body: sent,
    hidesUsage,
    leastOutputTokens: leastOutput(wire.name, body),
    bounded: (tokens) => boundOutput(sent, wire.name, tokens, route.target),
  }
}

function pathFor(path: string, model: string, target: string): string {
  for (const given of [model, encodeURIComponent(model), encodeURI(model)]) {
    const at = path.indexOf(`/${given}:`)
    if (at !== -1) return `${path.slice(0, at + 1)}${encodeURIComponent(target)}${path.slice(at + 1 + given.length)}`
  }
  throw invalid('The model in the path is written in a way that Pawl does not understand; write it plainly.')
}

function translated({ route, wire, key, authorization }: To, call: Call, { body }: Payload): Outgoing {
  const read = call.wire.readRequest(body, call.asked)
  const asked = { ...read, model: call.model, maxOutputTokens: atMost(read.maxOutputTokens, route.maxOutputTokens) }
  const { request, clientName } = withProviderNames(withOwnSeals(asked, route.provider.name), wire.name)
  const written = wire.writeRequest(request, route.target)
  const headers = {
    'content-type': 'application/json',
    accept: request.streams ? streamTypes[wire.framing] : 'application/json',
    'accept-encoding': 'identity',
    ...(wire.name === 'anthropic' ? { 'anthropic-version': '2023-06-01' } : {}),
    ...authorization,
  }
  return {
    wire,
    key,
    path: written.path,
    headers: Object.entries(headers).flat(),
    body: Buffer.from(JSON.stringify(written.body)),
    // As the client asked: by the tools it is known how their calls are written.
    foreign: { request: { ...asked, messages: [] }, clientName },
    hidesUsage: false,
    leastOutputTokens: leastTokens,
    bounded: (tokens) => Buffer.from(JSON.stringify(wire.writeRequest(boundRequest(request, tokens), route.target).body)),
  }
}

export const streamTypes = { sse: 'text/event-stream', ndjson: 'application/x-ndjson' } as const

/** What a client may ask of its own model can be more than this one writes. */
const atMost = (asked: number | undefined, most: number | undefined) =>
  asked === undefined || most === undefined ? (asked ?? most) : Math.min(asked, most)
