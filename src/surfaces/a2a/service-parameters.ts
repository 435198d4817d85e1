import { A2A_VERSION_HEADER, Extensions, HTTP_EXTENSION_HEADER } from '@a2a-js/sdk'
import { traceContextOf } from '../../domain/base/trace-context.ts'
import { denied } from '../../domain/error.ts'
import type { MountedCall } from '../mount.ts'
import { callOf } from './call.ts'

/** The version that a request names, in its header or its query; undefined if none, which the protocol reads as 0.3. */
export function versionIn({ headers, url }: Pick<Request, 'headers' | 'url'>): string | undefined {
  return headers.get(A2A_VERSION_HEADER)?.trim() || new URL(url).searchParams.get(A2A_VERSION_HEADER)?.trim() || undefined
}

/** A call that came over HTTP, as the handler is told of it. */
export function callOver({ request, principal, signal }: MountedCall, version: string | undefined) {
  if (!principal) throw denied('This call needs a token: send "Authorization: Bearer <token>".')
  const extensions = Extensions.parseServiceParameter(request.headers.get(HTTP_EXTENSION_HEADER) ?? undefined)
  return callOf(principal, {
    signal,
    trace: traceContextOf(request.headers),
    requestedExtensions: extensions,
    ...(version === undefined ? {} : { requestedVersion: version }),
  })
}

/** What was made use of is said with the answer. */
export function extensionHeaders({ activatedExtensions }: { readonly activatedExtensions: string[] | undefined }) {
  const headers: Record<string, string> = {}
  if (activatedExtensions?.length) headers[HTTP_EXTENSION_HEADER] = Extensions.toServiceParameter(activatedExtensions)
  return headers
}
