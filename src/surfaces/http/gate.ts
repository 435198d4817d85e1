import type { Context, MiddlewareHandler } from 'hono'
import { mayUse, type Principal, type Right } from '../../domain/auth/role.ts'
import type { Entrance } from '../../engine/auth/auth.ts'
import type { Attempt } from '../../engine/auth/denials.ts'
import type { HttpEnv } from './app.ts'
import { browserShows } from './cookie.ts'
import { Refusal } from './errors.ts'
import { type AllowedHosts, checkHost, checkOrigin } from './hosts.ts'
import type { Buckets } from './rate-limit.ts'

export interface GateOptions {
  readonly entrance: Pick<Entrance, 'authenticate'>
  readonly hosts: AllowedHosts
  readonly rightOf: (c: Context<HttpEnv>) => Right | undefined
  /** Requests of one token, and attempts without a good one from one peer. */
  readonly requests: Buckets
  readonly failures: Buckets
  readonly isSecure: () => boolean
  readonly onDenied: (attempt: Attempt) => void
}

const close = { Connection: 'close' }

/**
 * The one gate in front of every route, streams included. Host comes first, because a page that was re-bound to our address
 * carries no Origin; then Origin; then who asks; then whether they may. No peer address is exempt.
 */
export function createGate(options: GateOptions): MiddlewareHandler<HttpEnv> {
  const { hosts, onDenied } = options
  return async (c, next) => {
    const attempt = { peer: peerOf(c), method: c.req.method, path: c.req.path }
    const noting = (why: Attempt['why'], check: () => void) => {
      try {
        check()
      } catch (error) {
        onDenied({ ...attempt, why })
        throw error
      }
    }
    // The target must not name a host of its own: it would outrank the Host header that is checked below.
    const target = c.env?.incoming?.url
    if (target !== undefined && !target.startsWith('/'))
      throw new Refusal(400, 'invalid', 'The request target must be a path.', close)
    noting('host', () => checkHost(c.req.header('host'), hosts))
    noting('origin', () => checkOrigin(c.req.header('origin'), isArrival(c) ? undefined : c.req.header('sec-fetch-site'), hosts))
    const right = options.rightOf(c)
    if (right === 'open') return next()

    const principal = await whoAsks(c, options)
    if (!principal) {
      onDenied({ ...attempt, why: 'token' })
      throw refuseStranger(c, options.failures.take(attempt.peer))
    }
    c.set('principal', principal)
    c.set('isStillIn', async () => {
      const now = await whoAsks(c, options)
      return now !== undefined && (right === undefined || isAllowed(c, right, now))
    })
    // The owner of the home can do worse to it than ask too often.
    const waitS = principal.token === 'home' ? 0 : options.requests.take(principal.token)
    if (waitS > 0) throw tooOften(waitS, 'This token asks more often than it may')
    if (right !== undefined && !isAllowed(c, right, principal)) {
      onDenied({ ...attempt, why: 'right', user: principal.user })
      throw new Refusal(403, 'denied', `This is not for a token of ${nameOf(principal)}; it needs the right "${right}".`)
    }
    return next()
  }
}

/** Links to where browsers sign in may stand anywhere: what is shown there is nobody's yet, and only the code that the link carries counts. */
const isArrival = (c: Context<HttpEnv>) =>
  c.req.method === 'GET' && arrivals.has(c.req.path) && c.req.header('sec-fetch-mode') === 'navigate'
const arrivals = new Set(['/sign-in', '/open'])

export const tooOften = (waitS: number, what: string) =>
  new Refusal(429, 'limited', `${what}; wait ${waitS} s.`, { 'Retry-After': String(waitS), ...close })

export const peerOf = (c: Context<HttpEnv>) => c.env?.incoming?.socket?.remoteAddress ?? 'in-process'

async function whoAsks(c: Context<HttpEnv>, { entrance, isSecure }: GateOptions): Promise<Principal | undefined> {
  const header = c.req.header('authorization')
  if (header !== undefined) {
    // Two Authorization headers arrive joined by a comma and so match nothing.
    const given = /^bearer ([\x21-\x7e]+)$/i.exec(header)?.[1]
    return given === undefined ? undefined : entrance.authenticate(given, 'header')
  }
  const shown = browserShows(c.req, isSecure())
  return shown === undefined ? undefined : entrance.authenticate(shown, 'cookie')
}

/** Said the same whether a token was never there, has expired or was revoked. */
function refuseStranger(c: Context<HttpEnv>, waitS: number): Refusal {
  if (waitS > 0) return tooOften(waitS, 'There were too many requests from here without a good token')
  const sentence =
    c.req.header('authorization') === undefined
      ? 'This request needs a token: send "Authorization: Bearer <token>". The owner\'s stands in the file "token" in Pawl\'s home; "pawl token create" makes others.'
      : 'The token opens nothing here: it is not one of this daemon, has expired, or was revoked.'
  return new Refusal(401, 'denied', sentence, { 'WWW-Authenticate': 'Bearer', ...close })
}

function isAllowed(c: Context<HttpEnv>, right: Right, { standing, task }: Principal): boolean {
  if (!mayUse(right, standing)) return false
  // An agent may look at its own task and at nothing else.
  return standing !== 'agent' || right !== 'read_task' || c.req.path.split('/')[4] === task
}

const nameOf = ({ standing }: Principal) =>
  standing === 'hook' || standing === 'agent' ? `kind ${standing}` : `the role ${standing}`
