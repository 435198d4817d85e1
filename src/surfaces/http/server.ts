import type { Server } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener, RequestError } from '@hono/node-server'
import { OpenAPIHono } from '@hono/zod-openapi'
import type { MiddlewareHandler } from 'hono'
import { type Clock, systemClock } from '../../base/clock.ts'
import type { Log } from '../../base/log.ts'
import type { Principal } from '../../domain/auth/role.ts'
import { invalid, messageOf, PawlError } from '../../domain/error.ts'
import type { Audit } from '../../engine/auth/audit.ts'
import type { Entrance } from '../../engine/auth/auth.ts'
import type { Denials } from '../../engine/auth/denials.ts'
import type { SecretVerbs } from '../../engine/auth/secrets.ts'
import type { Runtime } from '../../operations/runtime.ts'
import type { Mount } from '../mount.ts'
import type { AccessLog } from './access-log.ts'
import { answerDirectly, isSent } from './answer.ts'
import type { App, HttpEnv, Parts } from './app.ts'
import { createBodyCheck } from './body.ts'
import { problemResponse, Refusal } from './errors.ts'
import { createGate, peerOf } from './gate.ts'
import { AllowedHosts, isLoopback } from './hosts.ts'
import { createListener, listen, type Pem } from './listen.ts'
import { createMethodCheck } from './methods.ts'
import { addMounts, inWordsOf } from './mounts.ts'
import { mountedFor, rightFinder } from './needs.ts'
import type { PageFiles } from './page-files.ts'
import { Buckets, type Rate } from './rate-limit.ts'
import { refuse } from './refused-page.ts'
import { addRoutes } from './routes/index.ts'
import { securityHeaders } from './security-headers.ts'
import { EventStreams } from './sse.ts'
import { onInvalid } from './validation.ts'

export interface HttpSurfaceOptions {
  readonly runtime: Runtime
  readonly entrance: Entrance
  readonly audit: Pick<Audit, 'list' | 'verify' | 'record'>
  readonly secrets?: SecretVerbs | undefined
  readonly log: Log
  /** One line per request; without it only the log says something. */
  readonly accessLog?: AccessLog | undefined
  readonly onDenied?: Denials['note'] | undefined
  readonly rates?: Partial<Rates> | undefined
  readonly version: string
  readonly clock?: Clock | undefined
  /** Further names, with port, under which this server may be asked for, e.g. behind a proxy. */
  readonly allowedHosts?: readonly string[] | undefined
  readonly shutdown?: (() => void) | undefined
  readonly page?: PageFiles | undefined
  readonly metrics?: Parts['metrics']
  /** Other ways in that are reached through this one. */
  readonly mounts?: readonly Mount[] | undefined
}

export interface Rates {
  /** Requests of one token. The owner of the home is not counted. */
  readonly requests: Rate
  /** Requests of one peer with no token or a bad one, and codes that open nothing. */
  readonly failures: Rate
}

export const defaultRates: Rates = { requests: { burst: 200, perSecond: 50 }, failures: { burst: 10, perSecond: 10 / 60 } }

export interface ListenOptions {
  readonly host: string
  readonly port: number
  /** True if somebody named this port: then another one will not do. */
  readonly portAsked: boolean
  /** Whoever listens beyond loopback without TLS must say so. */
  readonly insecurePlainHttp?: boolean | undefined
  /** Certificate chain and key as PEM: then only TLS is spoken. */
  readonly tls?: Pem | undefined
}

export interface HttpSurface {
  readonly app: App
  start(options: ListenOptions): Promise<{ url: string; port: number }>
  /** Resolves when no connection is left. May be called twice, or before `start`. */
  stop(): Promise<void>
}

/** How long requests in flight may take to finish once the server stops. */
const stopGraceMs = 3_000

const malformed = new Refusal(400, 'invalid', 'The request is malformed.', { Connection: 'close' })

export function createHttpSurface(options: HttpSurfaceOptions): HttpSurface {
  const { log } = options
  const hosts = new AllowedHosts(options.allowedHosts)
  const streams = new EventStreams(options)
  const app: App = new OpenAPIHono<HttpEnv>({ defaultHook: onInvalid })
  app.onError((thrown, c) => {
    const mount = mountedFor(app, c)
    return mount ? inWordsOf(mount, problemResponse(thrown, log), c, hosts) : refuse(c, thrown, options)
  })
  const clock = options.clock ?? systemClock
  const rates = { ...defaultRates, ...options.rates }
  const failures = new Buckets(rates.failures, clock)
  let isListeningSecurely = false
  const isSecure = () => isListeningSecurely
  const onDenied = options.onDenied ?? (() => undefined)
  app.use(
    logAccess(log, options.accessLog, clock),
    answerDirectly,
    createGate({
      ...options,
      hosts,
      failures,
      isSecure,
      onDenied,
      rightOf: rightFinder(app),
      requests: new Buckets(rates.requests, clock),
    }),
    createBodyCheck((c) => mountedFor(app, c)),
  )
  addRoutes(app, { ...options, streams, failures, isSecure, onDenied })
  addMounts(app, options.mounts ?? [], streams, hosts)
  app.notFound(createMethodCheck(app))

  const listener = getRequestListener(app.fetch, {
    // Pawl is also a library: the program around it keeps its own Request and Response.
    overrideGlobalObjects: false,
    errorHandler: (thrown) => withSecurityHeaders(problemResponse(thrown instanceof RequestError ? malformed : thrown, log)),
  })
  let server: Server | undefined
  let unhear: (() => void) | undefined

  return {
    app,
    async start({ host, port, portAsked, insecurePlainHttp = false, tls }) {
      if (server) throw new PawlError('conflict', 'The HTTP surface is already listening.')
      if (!isLoopback(host) && !insecurePlainHttp && !tls) {
        throw invalid(
          `Listening on ${host} would send tokens in plain text over the network; set server.tls.cert and server.tls.key, put a TLS proxy in front of 127.0.0.1, or say --insecure-plain-http.`,
        )
      }
      server = createListener(
        tls,
        (request, response) => void listener(request, response),
        (peer, status) => {
          const at = new Date(clock.now()).toISOString()
          options.accessLog?.write({ at, peer, actor: null, token: null, method: '-', path: '-', status, ms: 0 })
        },
      )
      try {
        await listen(server, host, port, portAsked)
      } catch (error) {
        server = undefined
        throw error
      }
      server.on('error', (error) => log.error('http server failed', { cause: messageOf(error) }))
      const bound = (server.address() as AddressInfo).port
      unhear = options.entrance.onChange(() => streams.recheck())
      isListeningSecurely = tls !== undefined
      hosts.bind(host, bound, { isSecure: isListeningSecurely })
      return { url: `${tls ? 'https' : 'http'}://${host.includes(':') ? `[${host}]` : host}:${bound}`, port: bound }
    },
    async stop() {
      const stopping = server
      server = undefined
      unhear?.()
      streams.stop()
      for (const mount of options.mounts ?? []) mount.stop?.()
      if (!stopping) return
      const closed = new Promise<void>((resolve) => stopping.close(() => resolve()))
      const force = setTimeout(() => stopping.closeAllConnections(), stopGraceMs)
      stopping.closeIdleConnections()
      await closed
      clearTimeout(force)
    },
  }
}

/** One line per request, without its query: values there may be private. */
function logAccess(log: Log, accessLog: AccessLog | undefined, clock: Clock): MiddlewareHandler<HttpEnv> {
  return async (c, next) => {
    const startedAt = performance.now()
    await next()
    const outgoing = c.env?.outgoing
    const isDone = isSent(outgoing)
    if (!isDone) withSecurityHeaders(c.res)
    // Decoded by the router, it may hold anything; most hold nothing that is written otherwise.
    const path = (/^[\w/.-]*$/.test(c.req.path) ? c.req.path : new URL(c.req.url).pathname).slice(0, 200)
    const status = isDone ? outgoing?.statusCode : c.res.status
    const fields = { method: c.req.method, path, status, ms: Math.round(performance.now() - startedAt) }
    if (accessLog) {
      const principal = c.get('principal') as Principal | undefined
      const at = new Date(clock.now()).toISOString()
      accessLog.write({
        at,
        peer: peerOf(c),
        actor: principal?.user ?? null,
        token: principal?.token ?? null,
        ...fields,
        status: status ?? 0,
      })
    }
    if (c.req.method === 'GET') log.debug('request', fields)
    else log.info('request', fields)
  }
}

function withSecurityHeaders(response: Response): Response {
  // A page brings a policy of its own.
  for (const [name, value] of Object.entries(securityHeaders)) if (!response.headers.has(name)) response.headers.set(name, value)
  return response
}
