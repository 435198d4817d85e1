import type { ServerResponse } from 'node:http'
import { RESPONSE_ALREADY_SENT } from '@hono/node-server/utils/response'
import type { Context } from 'hono'
import type { Principal } from '../../domain/auth/role.ts'
import { PawlError } from '../../domain/error.ts'
import type { Mount, MountedCall, MountedRoute } from '../mount.ts'
import type { App, HttpEnv } from './app.ts'
import type { Problem } from './errors.ts'
import type { AllowedHosts } from './hosts.ts'
import { addMounted } from './needs.ts'
import type { EventStreams } from './sse.ts'

/** Serves what other surfaces take, behind the same gate as everything else. */
export function addMounts(app: App, mounts: readonly Mount[], streams: EventStreams, hosts: AllowedHosts): void {
  for (const { routes } of mounts)
    for (const route of routes) addMounted(app, route, (c) => route.handle(callOf(c, streams, hosts)))
}

/** A refusal in the words of the protocol that was spoken. */
export async function inWordsOf(
  { refuse: say, challenge }: MountedRoute,
  refusal: Response,
  c: Context<HttpEnv>,
  hosts: AllowedHosts,
): Promise<Response> {
  if (refusal.status === 401 && challenge) refusal.headers.set('WWW-Authenticate', challenge(originOf(c, hosts)))
  if (!say) return refusal
  const { status, code, detail } = (await refusal.json()) as Problem
  const { type, body } = await say({ status, code, detail })
  const headers = new Headers(refusal.headers)
  headers.set('Content-Type', type)
  return new Response(JSON.stringify(body), { status, headers })
}

const originOf = (c: Context<HttpEnv>, hosts: AllowedHosts) => hosts.originOf(c.req.header('host') ?? '')

/** One for all: to make an error costs more than anything else that is done when a call is over. */
const wentAway = new DOMException('The connection is closed.', 'AbortError')

function callOf(c: Context<HttpEnv>, streams: EventStreams, hosts: AllowedHosts): MountedCall {
  const outgoing = c.env?.outgoing as ServerResponse | undefined
  const gone = new AbortController()
  outgoing?.once('close', () => gone.abort(wentAway))
  return {
    request: c.req.raw,
    origin: originOf(c, hosts),
    params: c.req.param() as Record<string, string>,
    principal: c.get('principal') as Principal | undefined,
    signal: gone.signal,
    async stream(frames, headers) {
      if (!outgoing) throw new PawlError('unsupported', 'A stream needs a connection.')
      streams.pipe(outgoing, frames, { headers, isStillIn: c.get('isStillIn') })
      return new Response(null, RESPONSE_ALREADY_SENT)
    },
  }
}
