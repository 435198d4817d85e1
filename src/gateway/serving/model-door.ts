import type { IncomingMessage, ServerResponse } from 'node:http'
import { ClientAnswer } from '../client/answer.ts'
import { refuse } from '../client/refusals.ts'
import { addressed, drain, hasToken } from '../client/request.ts'
import type { Refusal } from '../wires/model-event.ts'
import type { AttemptParts } from './attempt.ts'
import type { GatewayRun, ModelDoor } from './gateway.ts'
import { createServing } from './serve.ts'

/** One run's way to its models, until it is closed. */
export function openModelDoor(parts: AttemptParts, run: GatewayRun): ModelDoor {
  const serving = createServing(parts, run)
  const token = Buffer.from(run.token)
  const open = new Map<ClientAnswer, Promise<void>>()
  let isClosed = false

  return {
    async serve(request: IncomingMessage, response: ServerResponse, path: string): Promise<void> {
      const answer = new ClientAnswer(response)
      const address = addressed(request.method ?? '', path, request.headers)
      const refusal = isClosed ? overNow : hasToken(request, path, token) ? undefined : wrongToken
      if (refusal) {
        await drain(request)
        return refuse(answer, address.wire, refusal, new Date(parts.clock.now()))
      }
      const asked = run.onAsked?.()
      answer.onPiece = asked?.piece
      const served = serving.serve(request, answer, address)
      open.set(answer, served)
      await served
      open.delete(answer)
      asked?.over()
    },
    async close(): Promise<void> {
      isClosed = true
      const all = [...open]
      for (const [answer] of all) answer.cut()
      await Promise.all(all.map(([, served]) => served))
    },
  }
}

const overNow: Refusal = {
  kind: 'forbidden',
  message: 'No run is under way here now, so no model is served; ask again in your next turn.',
}
const wrongToken: Refusal = {
  kind: 'unauthorized',
  message: 'This is not the key of this door; send the token of the run as the API key.',
}
