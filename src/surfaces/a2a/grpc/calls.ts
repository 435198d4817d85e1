import { once } from 'node:events'
import type { StreamResponse } from '@a2a-js/sdk'
import { A2AError } from '@a2a-js/sdk/errors'
import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import { status } from '@grpc/grpc-js'
import type { Log } from '../../../base/log.ts'
import { a2aError, type OwnReason, Refused } from '../errors.ts'

/** A refusal of ours with the code that gRPC has for it. */
class GrpcRefused extends A2AError {
  readonly transport = 'grpc'
  readonly status: number

  constructor(code: number, message: string) {
    super({ message })
    this.status = code
  }
}

const codes: Record<OwnReason, number> = {
  PERMISSION_DENIED: status.PERMISSION_DENIED,
  RESOURCE_EXHAUSTED: status.RESOURCE_EXHAUSTED,
  UNAVAILABLE: status.UNAVAILABLE,
  INTERNAL: status.INTERNAL,
}

/** What a call that streams shows of itself. */
export interface StreamingCall extends NodeJS.EventEmitter {
  readonly writableNeedDrain?: boolean
}

/**
 * The handler for one call: what it throws is told in the codes of gRPC, and a stream ends when its client has gone, waits while that does not read, and is cut when `over` says so.
 */
export function forOneCall(
  handler: A2ARequestHandler,
  {
    log,
    call,
    gone,
    over,
    onDenied,
  }: { log: Log; call: StreamingCall; gone: AbortSignal; over: () => string | undefined; onDenied: () => void },
): A2ARequestHandler {
  const told = (thrown: unknown): A2AError => {
    const error = a2aError(thrown, log)
    if (!(error instanceof Refused)) return error
    if (error.reason === 'PERMISSION_DENIED') onDenied()
    return new GrpcRefused(codes[error.reason], error.message)
  }
  const unary =
    <A extends unknown[], R>(operation: (...given: A) => Promise<R>) =>
    async (...given: A): Promise<R> => {
      try {
        return await operation(...given)
      } catch (error) {
        throw told(error)
      }
    }
  const streaming = <A extends unknown[]>(operation: (...given: A) => AsyncGenerator<StreamResponse, void, undefined>) =>
    async function* (...given: A): AsyncGenerator<StreamResponse, void, undefined> {
      try {
        for await (const update of operation(...given)) {
          if (gone.aborted) break
          yield update
          if (call.writableNeedDrain) await Promise.race([once(call, 'drain', { signal: gone }).catch(() => undefined)])
        }
      } catch (error) {
        if (!gone.aborted) throw told(error)
      }
      const why = over()
      if (why !== undefined) throw new GrpcRefused(status.UNAUTHENTICATED, why)
    }
  return {
    getAgentCard: unary(() => handler.getAgentCard()),
    getAuthenticatedExtendedAgentCard: unary((...given) => handler.getAuthenticatedExtendedAgentCard(...given)),
    sendMessage: unary((...given) => handler.sendMessage(...given)),
    getTask: unary((...given) => handler.getTask(...given)),
    listTasks: unary((...given) => handler.listTasks(...given)),
    cancelTask: unary((...given) => handler.cancelTask(...given)),
    createTaskPushNotificationConfig: unary((...given) => handler.createTaskPushNotificationConfig(...given)),
    getTaskPushNotificationConfig: unary((...given) => handler.getTaskPushNotificationConfig(...given)),
    listTaskPushNotificationConfigs: unary((...given) => handler.listTaskPushNotificationConfigs(...given)),
    deleteTaskPushNotificationConfig: unary((...given) => handler.deleteTaskPushNotificationConfig(...given)),
    sendMessageStream: streaming((...given) => handler.sendMessageStream(...given)),
    resubscribe: streaming((...given) => handler.resubscribe(...given)),
  }
}
