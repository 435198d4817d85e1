import type { HttpBindings } from '@hono/node-server'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Context } from 'hono'
import { localUser, type Principal } from '../../domain/auth/role.ts'
import type { Audit } from '../../engine/auth/audit.ts'
import type { Entrance } from '../../engine/auth/auth.ts'
import type { Denials } from '../../engine/auth/denials.ts'
import type { SecretVerbs } from '../../engine/auth/secrets.ts'
import type { Caller, Runtime } from '../../operations/runtime.ts'
import type { PageFiles } from './page-files.ts'
import type { Buckets } from './rate-limit.ts'
import type { EventStreams } from './sse.ts'

/** The Node objects are there for requests that came over a socket. */
export interface HttpEnv {
  Bindings: Partial<HttpBindings>
  Variables: {
    /** Who asks. There on every route that is not open. */
    principal: Principal
    /** Whether what they showed would let them in again by now: for answers that last. */
    isStillIn: () => Promise<boolean>
  }
}
export type App = OpenAPIHono<HttpEnv>

/** What the routes need. */
export interface Parts {
  readonly runtime: Runtime
  readonly entrance: Entrance
  readonly audit: Pick<Audit, 'list' | 'verify' | 'record'>
  /** Without them their routes are refused. */
  readonly secrets?: SecretVerbs | undefined
  /** Attempts without a good token or code, by peer. */
  readonly failures: Buckets
  readonly onDenied: Denials['note']
  /** True if we speak TLS ourselves. */
  readonly isSecure: () => boolean
  readonly streams: EventStreams
  readonly version: string
  /** The built page; without it `GET /` says how to get it. */
  readonly page?: PageFiles | undefined
  /** The numbers for whoever watches from outside; without it `GET /metrics` is refused. */
  readonly metrics?: ((seen: { followers: number }) => Promise<string>) | undefined
  /** Stops the daemon; without it `POST /shutdown` is refused. */
  readonly shutdown?: (() => void) | undefined
}

export const api = '/api/v1'
/** Who asked, as the journal and the audit call them. The owner of the home is known to the journal by the program they used. */
export function callerOf(c: Context<HttpEnv>): Caller {
  const { user, token, standing } = c.get('principal')
  const client = c.req.header('x-pawl-client') ?? ''
  const by = user !== localUser ? user : /^[a-z0-9-]{1,32}$/.test(client) ? client : 'api'
  return { by, user, token, standing }
}
