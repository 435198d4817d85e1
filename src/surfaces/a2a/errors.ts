import { randomUUID } from 'node:crypto'
import {
  A2AError,
  ContentTypeNotSupportedError,
  RequestMalformedError,
  TaskNotFoundError,
  UnsupportedOperationError,
} from '@a2a-js/sdk/errors'
import type { Log } from '../../base/log.ts'
import { type ErrorCode, PawlError, stackOf } from '../../domain/error.ts'

/** Refusals that the protocol has no error of its own for. Each binding knows what it calls them. */
const ownReasons = {
  denied: 'PERMISSION_DENIED',
  limited: 'RESOURCE_EXHAUSTED',
  unavailable: 'UNAVAILABLE',
  internal: 'INTERNAL',
} as const satisfies Partial<Record<ErrorCode, string>>
export type OwnReason = (typeof ownReasons)[keyof typeof ownReasons]

export class Refused extends A2AError {
  override readonly reason: OwnReason

  constructor(reason: OwnReason, message: string) {
    super({ message })
    this.reason = reason
  }
}

/** The one way from any thrown thing to what every binding can say. An unknown throw tells the caller an id only; its cause goes to the log. */
export function a2aError(thrown: unknown, log: Log): A2AError {
  if (thrown instanceof A2AError) return thrown
  const error = thrown instanceof PawlError ? thrown : new PawlError('internal', 'unexpected', { cause: thrown })
  switch (error.code) {
    case 'invalid':
    case 'conflict':
      return new RequestMalformedError(error.message)
    case 'not_found':
      return new TaskNotFoundError(error.message)
    case 'unsupported':
      return new UnsupportedOperationError(error.message)
    case 'internal': {
      const id = randomUUID()
      log.error('an A2A call failed', { id, cause: stackOf(error.cause ?? error) })
      return new Refused('INTERNAL', `Pawl made a mistake; its log has the details under ${id}.`)
    }
    case 'denied':
    case 'limited':
    case 'unavailable':
      return new Refused(ownReasons[error.code], error.message)
  }
}

/** What the protocol calls a refusal that HTTP said before the handler was asked. */
export function errorOfStatus(status: number, message: string): A2AError {
  if (status === 415) return new ContentTypeNotSupportedError(message)
  if (status === 401 || status === 403) return new Refused('PERMISSION_DENIED', message)
  if (status === 429) return new Refused('RESOURCE_EXHAUSTED', message)
  if (status === 503) return new Refused('UNAVAILABLE', message)
  return status >= 500 ? new Refused('INTERNAL', message) : new RequestMalformedError(message)
}
