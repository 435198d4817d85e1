import { SendMessageRequest, type StreamResponse, SubscribeToTaskRequest } from '@a2a-js/sdk'
import { isV1JsonRpcMethod } from '@a2a-js/sdk/compat/v0_3'
import { LegacyJsonRpcTransportHandler } from '@a2a-js/sdk/compat/v0_3/server'
import { A2A_ERROR_CODE, RequestMalformedError, toJsonRpcError } from '@a2a-js/sdk/errors'
import { type A2ARequestHandler, JsonRpcTransportHandler, type ServerCallContext } from '@a2a-js/sdk/server'
import { isObject, isObjectOrArray } from '../../domain/base/object.ts'
import type { MountedCall, MountedRefusal } from '../mount.ts'
import { assertReadable } from './body.ts'
import { errorOfStatus } from './errors.ts'
import { framesOf, textOf } from './frames.ts'
import { callOver, extensionHeaders, versionIn } from './service-parameters.ts'
import { assertVersion } from './versions.ts'

const legacyVersion = '0.3'
const version = '1.0'
/** Of refusals that the protocol has no number for; the reason stands in the details. */
const serverError = -32_000
const ownReasons = new Set(['PERMISSION_DENIED', 'RESOURCE_EXHAUSTED', 'UNAVAILABLE'])

interface Envelope {
  readonly jsonrpc: string
  readonly id: string | number | null
  readonly result?: unknown
  readonly error?: unknown
}

/** One address for all operations. Every answer that is one has the status 200, as JSON-RPC wants it. */
export function jsonRpcOf(handler: A2ARequestHandler): (call: MountedCall) => Promise<Response> {
  const current = new JsonRpcTransportHandler(handler)
  const legacy = new LegacyJsonRpcTransportHandler(handler)
  return async (call) => {
    const body = parsed(await call.request.text())
    if (body === undefined) return answer(failed(null, { code: A2A_ERROR_CODE.PARSE_ERROR, message: 'Invalid JSON payload.' }))
    const id = idIn(body)
    if (!isRequest(body))
      return answer(failed(id, { code: A2A_ERROR_CODE.INVALID_REQUEST, message: 'This is no request of JSON-RPC 2.0.' }))
    const named = versionIn(call.request)
    // A client that names no version is of 0.3, unless it asks for what only a later one has.
    const spoken = named ?? (isV1JsonRpcMethod((body as { method?: unknown }).method) ? version : legacyVersion)
    const isLegacy = spoken === legacyVersion
    const inWords = (thrown: unknown) =>
      failed(id, isLegacy ? LegacyJsonRpcTransportHandler.mapToLegacyJSONRPCError(thrown) : wordsOf(thrown))
    const context = callOver(call, spoken)
    try {
      assertVersion(spoken, 'JSONRPC')
      assertReadable(body.params)
      const updates = isLegacy ? undefined : streamOf(handler, body, context)
      if (updates) {
        // The envelope is the reader's own, what stands in it is not.
        const head = `{"jsonrpc":"2.0","id":${JSON.stringify(id)},"result":`
        const frames = await framesOf(updates, { say: (update) => `${head}${textOf(update)}}`, sayError: inWords })
        return await call.stream(frames, extensionHeaders(context))
      }
      const result = await (isLegacy ? legacy : current).handle(body, context)
      const headers = extensionHeaders(context)
      if (!isStream(result)) return answer(withOwnCode(result as Envelope), headers)
      const frames = await framesOf(result, { say: JSON.stringify, sayError: inWords })
      return await call.stream(frames, headers)
    } catch (thrown) {
      return answer(inWords(thrown))
    }
  }
}

/** What the gate refused, in the words of JSON-RPC. */
export const refuseJsonRpc = ({ status, detail }: MountedRefusal) => ({
  type: 'application/json',
  body: failed(null, wordsOf(errorOfStatus(status, detail))),
})

const isRequest = (body: unknown): body is Record<string, unknown> =>
  isObjectOrArray(body) &&
  (body as { jsonrpc?: unknown }).jsonrpc === '2.0' &&
  typeof (body as { method?: unknown }).method === 'string' &&
  ['undefined', 'string', 'number'].includes(typeof ((body as { id?: unknown }).id ?? undefined))

/** What a call of 1.0 that streams comes to; undefined for all others. The SDK would put each update into words once for every reader. */
function streamOf(
  handler: A2ARequestHandler,
  { method, params }: Record<string, unknown>,
  context: ServerCallContext,
): AsyncGenerator<StreamResponse, void, undefined> | undefined {
  if (method !== 'SendStreamingMessage' && method !== 'SubscribeToTask') return undefined
  if (!isObject(params)) throw new RequestMalformedError('params must be an object.')
  return method === 'SubscribeToTask'
    ? handler.resubscribe(SubscribeToTaskRequest.fromJSON(params), context)
    : handler.sendMessageStream(SendMessageRequest.fromJSON(params), context)
}

const isStream = (result: unknown): result is AsyncGenerator<unknown, void, undefined> =>
  isObjectOrArray(result) && Symbol.asyncIterator in result

const failed = (id: Envelope['id'], error: unknown): Envelope => ({ jsonrpc: '2.0', id, error })

const wordsOf = (thrown: unknown) => ownCode(toJsonRpcError(thrown))

function withOwnCode(envelope: Envelope): Envelope {
  return envelope.error === undefined ? envelope : { ...envelope, error: ownCode(envelope.error as Words) }
}

interface Words {
  readonly code: number
  readonly message: string
  readonly data?: readonly Readonly<Record<string, unknown>>[] | undefined
}

const ownCode = (error: Words): Words =>
  ownReasons.has(String(error.data?.[0]?.reason)) ? { ...error, code: serverError } : error

const answer = (envelope: Envelope, headers: Record<string, string> = {}) =>
  new Response(JSON.stringify(envelope), { headers: { 'Content-Type': 'application/json', ...headers } })

function parsed(text: string): Record<string, unknown> | undefined {
  try {
    return JSON.parse(text) as Record<string, unknown>
  } catch (error) {
    if (error instanceof SyntaxError) return undefined
    throw error
  }
}

function idIn(body: unknown): Envelope['id'] {
  const id = isObjectOrArray(body) ? (body as { id?: unknown }).id : undefined
  return typeof id === 'string' || typeof id === 'number' ? id : null
}
