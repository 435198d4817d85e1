import type { A2ARequestHandler } from '@a2a-js/sdk/server'
import { A2AService, grpcService } from '@a2a-js/sdk/server/grpc'
import {
  Server,
  ServerCredentials,
  type ServerUnaryCall,
  type ServerWritableStream,
  type UntypedServiceImplementation,
} from '@grpc/grpc-js'
import type { Log } from '../../../base/log.ts'
import { traceContextOf } from '../../../domain/base/trace-context.ts'
import { messageOf, PawlError } from '../../../domain/error.ts'
import type { Entrance } from '../../../engine/auth/auth.ts'
import type { Denials } from '../../../engine/auth/denials.ts'
import { callOf } from '../call.ts'
import { forOneCall } from './calls.ts'
import { createGrpcGate, type Hosts, type Rationing } from './gate.ts'

export interface GrpcSurfaceOptions {
  /** The endpoint of an agent, or the daemon's own. Rejects for an agent that is not there. */
  readonly endpoint: (agent: string | undefined) => Promise<A2ARequestHandler>
  readonly entrance: Pick<Entrance, 'authenticate' | 'onChange'>
  readonly onDenied: Denials['note']
  readonly log: Log
  readonly hosts: Hosts & { bind(host: string, port: number, how: { isSecure: boolean }): void }
  /** Requests of one token, and attempts without a good one from one peer. */
  readonly requests: Rationing
  readonly failures: Rationing
  readonly maxMessageBytes: number
}

export interface GrpcSurface {
  /** Answers the authority under which it is reached. */
  start(options: {
    host: string
    port: number
    tls?: { readonly cert: string; readonly key: string } | undefined
  }): Promise<{ authority: string; port: number }>
  /** May be called twice, or before `start`. */
  stop(): Promise<void>
}

/** How long calls in flight may take to finish once the server stops. */
const stopGraceMs = 3_000

type Call = ServerUnaryCall<{ tenant?: string }, unknown> & ServerWritableStream<{ tenant?: string }, unknown>
type Answer = (error: unknown, value?: unknown) => void

/** A2A over gRPC, on a port of its own. The tenant of a call is the agent whose endpoint is meant; without one it is the daemon's. */
export function createGrpcSurface(options: GrpcSurfaceOptions): GrpcSurface {
  const { entrance, log, onDenied, hosts, requests, failures } = options
  const gate = createGrpcGate({
    entrance,
    hosts,
    onDenied,
    log,
    requests,
    failures,
  })
  /** Calls that last, each with how to end it if whoever made it may not come in any more. */
  const lasting = new Set<() => void>()
  let server: Server | undefined
  let unhear = () => {}

  const answer = async (name: string, call: Call, callback: Answer) => {
    const principal = gate.principalOf(call.metadata)!
    const gone = new AbortController()
    call.once('cancelled', () => gone.abort())
    let isThrownOut = false
    const recheck = () =>
      void gate.isStillIn(call.metadata).then(
        (isIn) => {
          if (isIn) return
          isThrownOut = true
          gone.abort()
        },
        (error: unknown) => log.warn('whether a stream may go on could not be checked', { error: messageOf(error) }),
      )
    lasting.add(recheck)
    try {
      const handler = forOneCall(await options.endpoint(call.request.tenant || undefined).catch(refusing), {
        log,
        call,
        gone: gone.signal,
        over: () => (isThrownOut ? 'The token that this stream was opened with opens nothing here any more.' : undefined),
        onDenied: () =>
          onDenied({ peer: call.getPeer(), user: principal.user, why: 'right', method: 'GRPC', path: call.getPath() }),
      })
      const service = grpcService({
        requestHandler: handler,
        userBuilder: async () => callOf(principal).user!,
        contextBuilder({ extensions, requestedVersion, tenant }) {
          return callOf(principal, {
            signal: gone.signal,
            trace: traceContextOf(call.metadata),
            ...(extensions ? { requestedExtensions: extensions } : {}),
            // Patch numbers have no say in it.
            ...(!requestedVersion ? {} : { requestedVersion: requestedVersion.split('.', 2).join('.') }),
            ...(tenant === undefined ? {} : { tenant }),
          })
        },
      })
      await (service[name] as unknown as (call: Call, callback: Answer) => Promise<void>)(call, callback)
    } finally {
      lasting.delete(recheck)
    }
  }

  const implementation = Object.fromEntries(
    Object.keys(A2AService).map((name) => [name, (call: Call, callback: Answer) => void answer(name, call, callback)]),
  ) as unknown as UntypedServiceImplementation

  return {
    async start({ host, port, tls }) {
      const opened = new Server({
        'grpc.max_receive_message_length': options.maxMessageBytes,
        'grpc.max_metadata_size': 32 * 1024,
        'grpc.keepalive_time_ms': 30_000,
        interceptors: [gate.interceptor],
      })
      opened.addService(A2AService, implementation)
      const credentials = tls
        ? ServerCredentials.createSsl(null, [{ cert_chain: Buffer.from(tls.cert), private_key: Buffer.from(tls.key) }])
        : ServerCredentials.createInsecure()
      const name = host.includes(':') ? `[${host}]` : host
      const bound = await new Promise<number>((done, fail) =>
        opened.bindAsync(`${name}:${port}`, credentials, (error, given) => (error ? fail(error) : done(given))),
      ).catch((error: unknown) => {
        throw new PawlError(
          'unavailable',
          `Cannot speak gRPC on ${name}:${port}: ${messageOf(error)}. Choose another a2a.grpcPort.`,
        )
      })
      server = opened
      hosts.bind(host, bound, { isSecure: tls !== undefined })
      unhear = entrance.onChange(() => {
        for (const recheck of lasting) recheck()
      })
      return { authority: `${name}:${bound}`, port: bound }
    },
    async stop() {
      const stopping = server
      server = undefined
      unhear()
      if (!stopping) return
      const force = setTimeout(() => stopping.forceShutdown(), stopGraceMs)
      await new Promise<void>((done) => stopping.tryShutdown(() => done()))
      clearTimeout(force)
    },
  }
}

/** An endpoint that is not there says so to whatever it is asked. */
function refusing(error: unknown): A2ARequestHandler {
  return new Proxy({} as A2ARequestHandler, {
    get: () => () => {
      throw error
    },
  })
}
