import { A2A_CONTENT_TYPE } from '@a2a-js/sdk'
import { A2AError, restStatusFor, toRestErrorBody } from '@a2a-js/sdk/errors'
import type { MountedRefusal } from '../mount.ts'
import { errorOfStatus, type OwnReason } from './errors.ts'

const ownStatus: Readonly<Record<OwnReason, number>> = {
  PERMISSION_DENIED: 403,
  RESOURCE_EXHAUSTED: 429,
  UNAVAILABLE: 503,
  INTERNAL: 500,
}

/** An error as the HTTP+JSON binding writes it: google.rpc.Status with the reason in its details. */
export function restError(thrown: unknown): Response {
  const own = ownReason(thrown)
  const status = own === undefined ? restStatusFor(thrown) : ownStatus[own]
  return new Response(JSON.stringify(bodyOf(thrown, status)), { status, headers: { 'Content-Type': A2A_CONTENT_TYPE } })
}

/** The same for what goes wrong in the middle of a stream. */
export const restErrorBody = (thrown: unknown) => {
  const own = ownReason(thrown)
  return bodyOf(thrown, own === undefined ? restStatusFor(thrown) : ownStatus[own])
}

/** What the gate refused. */
export const refuseRest = ({ status, detail }: MountedRefusal) => ({
  type: A2A_CONTENT_TYPE,
  body: bodyOf(errorOfStatus(status, detail), status),
})

function bodyOf(thrown: unknown, status: number) {
  const { error } = toRestErrorBody(thrown, status)
  const own = ownReason(thrown)
  return { error: own === undefined ? error : { ...error, status: status === 401 ? 'UNAUTHENTICATED' : own } }
}

function ownReason(thrown: unknown): OwnReason | undefined {
  const reason = thrown instanceof A2AError ? thrown.reason : undefined
  return reason !== undefined && Object.hasOwn(ownStatus, reason) ? (reason as OwnReason) : undefined
}
