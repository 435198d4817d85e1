import type { HttpBindings } from '@hono/node-server'
import type { OpenAPIHono } from '@hono/zod-openapi'
import type { Runtime } from '../../engine/runtime.ts'
import type { EventStreams } from './sse.ts'

/** The Node objects are there for requests that came over a socket. */
export interface HttpEnv {
  Bindings: Partial<HttpBindings>
}
export type App = OpenAPIHono<HttpEnv>

/** What the routes need. */
export interface Parts {
  readonly runtime: Runtime
  readonly streams: EventStreams
  readonly version: string
  /** Stops the daemon; without it `POST /shutdown` is refused. */
  readonly shutdown?: (() => void) | undefined
}

export const api = '/api/v1'
/** Written into the journal as the one who asked. */
export function callerOf(request: { header(name: string): string | undefined }): { by: string } {
  const name = request.header('x-pawl-client') ?? ''
  return { by: /^[a-z0-9-]{1,32}$/.test(name) ? name : 'api' }
}
