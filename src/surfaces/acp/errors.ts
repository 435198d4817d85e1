import { RequestError } from '@agentclientprotocol/sdk'
import { type ErrorCode, PawlError } from '../../domain/error.ts'

const invalidRequest = -32600
const invalidParams = -32602
const internalError = -32603
const authCode = -32000
const resourceNotFound = -32002

const codes = {
  invalid: invalidParams,
  not_found: resourceNotFound,
  conflict: invalidRequest,
  denied: internalError,
  limited: internalError,
  unsupported: invalidParams,
  unavailable: internalError,
  internal: internalError,
} as const satisfies Record<ErrorCode, number>

/** What an editor shows to its user: our sentence, and behind it what kind of refusal it is. */
export function requestError(error: unknown): RequestError {
  if (error instanceof RequestError) return error
  if (error instanceof PawlError) return new RequestError(codes[error.code], error.message, { code: error.code })
  return new RequestError(internalError, 'Pawl made a mistake; what "pawl acp" wrote to standard error has the details.', {
    code: 'internal',
  })
}

/** A task that ended badly, as an error of the prompt that asked for it. */
export const failedTask = (task: string, category: string, message: string): RequestError =>
  new RequestError(category === 'auth_failed' ? authCode : internalError, message, { code: category, task })

/** The program of the agent must be logged in first. */
export const authRequired = (message: string) => new RequestError(authCode, message, { code: 'auth_failed' })
