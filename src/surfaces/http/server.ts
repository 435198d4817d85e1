import { createServer, type Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import type { Clock } from '../../clock.ts'
import { invalid, messageOf, PawlError, unavailable } from '../../domain/error.ts'
import type { Runtime } from '../../engine/runtime.ts'
import type { Log } from '../../log.ts'
import type { App, HttpEnv } from './app.ts'
import { AllowedHosts, createGate, isLoopback } from './auth.ts'
import { createBodyCheck } from './body.ts'
import { problemResponse, Refusal } from './errors.ts'
import { createMethodCheck } from './methods.ts'
import { addRoutes } from './routes/index.ts'
import { securityHeaders } from './security-headers.ts'
import { EventStreams } from './sse.ts'
import { onInvalid } from './validation.ts'

export interface HttpSurfaceOptions {
  readonly runtime: Runtime
  readonly token: string
  readonly log: Log
  readonly version: string
  readonly clock?: Clock | undefined
  /** Further names, with port, under which this server may be asked for, e.g. behind a proxy. */
  readonly allowedHosts?: readonly string[] | undefined
  readonly shutdown?: (() => void) | undefined
}

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** True if somebody named this port: then another one will not do. */
  readonly portAsked: boolean
  /** Whoever listens beyond loopback without TLS must say so. */
  readonly insecurePlainHttp?: boolean | undefined
}

export interface HttpSurface {
  readonly app: App
  start(options: ListenOptions): Promise<{ url: string; port: number }>
  /** Resolves when no connection is left. May be called twice, or before `start`. */
  stop(): Promise<void>
}

const limits = {
  headersTimeout: 10_000,
  requestTimeout: 30_000,
  keepAliveTimeout: 5_000,
  connectionsCheckingInterval: 2_000,
  maxHeaderSize: 16 * 1024,
  requireHostHeader: true,
} as const
const maxConnections = 2_048
/** How long requests in flight may take to finish once the server stops. */
const stopGraceMs = 3_000

const malformed = new Refusal(400, 'invalid', 'The request is malformed.', { Connection: 'close' })

export function createHttpSurface(options: HttpSurfaceOptions): HttpSurface {
  const { log } = options
  const hosts = new AllowedHosts(options.allowedHosts)
  const streams = new EventStreams(options)
  const app: App = new OpenAPIHono<HttpEnv>({ defaultHook: onInvalid })
  app.onError((thrown) => problemResponse(thrown, log))
  app.use(logAccess(log), createGate({ token: options.token, hosts }), createBodyCheck())
  addRoutes(app, { ...options, streams })
  app.notFound(createMethodCheck(app))

  const listener = getRequestListener(app.fetch, {
    // Pawl is also a library: the program around it keeps its own Request and Response.
    overrideGlobalObjects: false,
    errorHandler: (thrown) => withSecurityHeaders(problemResponse(thrown instanceof RequestError ? malformed : thrown, log)),
  })
  let server: Server | undefined

  return {
    app,
    async start({ host, port, portAsked, insecurePlainHttp = false }) {
      if (server) throw new PawlError('conflict', 'The HTTP surface is already listening.')
      if (!isLoopback(host) && !insecurePlainHttp) {
        throw invalid(
          `Listening on ${host} would send the token in plain text over the network; put a TLS proxy in front of 127.0.0.1, or say --insecure-plain-http.`,
        )
      }
      server = createServer(limits, (request, response) => void listener(request, response))
      server.maxConnections = maxConnections
      try {
        await listen(server, host, port, portAsked)
      } catch (error) {
        server = undefined
        throw error
      }
      server.on('error', (error) => log.error('http server failed', { cause: messageOf(error) }))
      const bound = (server.address() as AddressInfo).port
      hosts.bind(host, bound)
      return { url: `http://${host.includes(':') ? `[${host}]` : host}:${bound}`, port: bound }
    },
    async stop() {
      const stopping = server
      server = undefined
      streams.stop()
      if (!stopping) return
      const closed = new Promise<void>((resolve) => stopping.close(() => resolve()))
      const force = setTimeout(() => stopping.closeAllConnections(), stopGraceMs)
      stopping.closeIdleConnections()
      await closed
      clearTimeout(force)
    },
  }
}

async function listen(server: Server, host: string, port: number, portAsked: boolean): Promise<void> {
  try {
    await listenOnce(server, host, port)
  } catch (error) {
    const code = (error as NodeJS.ErrnoException).code
    if (code === 'EADDRINUSE' && !portAsked) return listenOnce(server, host, 0)
    if (code === 'EADDRINUSE')
      throw unavailable(`Port ${port} is taken; choose another with --port or stop the other program.`, error)
    if (code === 'EACCES')
      throw unavailable(`Port ${port} may not be used by this user; choose one above 1023 with --port.`, error)
    throw unavailable(`Cannot listen on ${host}:${port}: ${messageOf(error)}.`, error)
  }
}

function listenOnce(server: Server, host: string, port: number): Promise<void> {
  return new Promise((resolve, reject) => {
    server.once('error', reject)
    server.listen({ host, port }, () => {
      server.off('error', reject)
      resolve()
    })
  })
}

/** One line per request, without its query: values there may be private. */
function logAccess(log: Log): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const startedAt = performance.now()
    await next()
    withSecurityHeaders(c.res)
    const path = new URL(c.req.url).pathname.slice(0, 200)
    const fields = { method: c.req.method, path, status: c.res.status, ms: Math.round(performance.now() - startedAt) }
    if (c.req.method === 'GET') log.debug('request', fields)
    else log.info('request', fields)
  }
}

function withSecurityHeaders(response: Response): Response {
  for (const [name, value] of Object.entries(securityHeaders)) response.headers.set(name, value)
  return response
}
