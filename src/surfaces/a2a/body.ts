import { RequestMalformedError } from '@a2a-js/sdk/errors'
import { isObject } from '../../domain/base/object.ts'
import { unkeepable } from '../../domain/base/unkeepable.ts'

/** Refuses what those who read messages would stumble over, whichever version they are of. */
export function assertReadable(params: unknown): void {
  for (const { path, message } of unkeepable(params))
    throw new RequestMalformedError(`${path.join('.') || 'What was sent'}: ${message}.`)
  const parts = (params as { message?: { parts?: unknown } | null } | null | undefined)?.message?.parts
  if (Array.isArray(parts) && parts.some((part) => !isObject(part)))
    throw new RequestMalformedError('Every part of a message must be an object.')
}
