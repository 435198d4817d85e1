import type { RawHeaders } from '../base/headers.ts'
import type { ClientAnswer } from '../client/answer.ts'
import type { ForeignSeals } from '../provider/foreign-seals.ts'
import type { JsonObject } from '../wires/model-request.ts'
import type { Asked, RequestHead, Wire } from '../wires/wire.ts'
import type { GatewayRun } from './gateway.ts'

/** One request of a client, read and understood. */
export interface Call {
  readonly run: GatewayRun
  readonly number: number
  readonly wire: Wire
  readonly asked: Asked
  readonly method: string
  /** With its query, without the token. */
  readonly path: string
  readonly headers: RawHeaders
  readonly head: RequestHead
  /** Without a mode. */
  readonly model: string
  readonly answer: ClientAnswer
  readonly seals: ForeignSeals
  /** Let go when the answer comes: an open stream must not keep the conversation that it answers. */
  payload: Payload | undefined
}

export interface Payload {
  /** As the client sent it. */
  readonly bytes: Buffer
  readonly body: JsonObject
}

/** A mode is for whoever starts the agent; models are known without it. */
export const withoutMode = (model: string) => (model.includes(':mode=') ? model.replace(/:mode=[\w-]*$/, '') : model)

export function payloadOf({ payload, number }: Call): Payload {
  if (!payload) throw new Error(`call ${number} was let go before its last try`)
  return payload
}
