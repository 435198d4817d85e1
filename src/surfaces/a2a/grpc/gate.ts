import { encodeGrpcStatusDetails, GRPC_STATUS_DETAILS_BIN } from '@a2a-js/sdk/errors/grpc'
import { Metadata, ServerInterceptingCall, type ServerInterceptor, status } from '@grpc/grpc-js'
import type { Log } from '../../../base/log.ts'
import type { Principal } from '../../../domain/auth/role.ts'
import { messageOf } from '../../../domain/error.ts'
import type { Entrance } from '../../../engine/auth/auth.ts'
import type { Attempt } from '../../../engine/auth/denials.ts'

/** The names under which a server may be asked for. */
export interface Hosts {
  has(host: string): boolean
  hasOrigin(origin: string): boolean
}

/** So many at once, and so many per second: 0 if there was one left for the key, else the seconds until there is. */
export interface Rationing {
  take(key: string): number
}

export interface GrpcGateOptions {
  readonly entrance: Pick<Entrance, 'authenticate'>
  readonly hosts: Hosts
  /** Requests of one token, and attempts without a good one from one peer. */
  readonly requests: Rationing
  readonly failures: Rationing
  readonly onDenied: (attempt: Attempt) => void
  readonly log: Log
}

export interface GrpcGate {
  readonly interceptor: ServerInterceptor
  /** Who was let in with this call. */
  principalOf(metadata: Metadata): Principal | undefined
  /** Whether what they showed would let them in again by now. */
  isStillIn(metadata: Metadata): Promise<boolean>
}

type PartialStatus = Parameters<ServerInterceptingCall['sendStatus']>[0]
type Refusal = { readonly code: status; readonly details: string; readonly retryAfterS?: number }

/** The rules of the HTTP gate for calls over gRPC: decided by what comes before the message, so that a stranger's message is never read. */
export function createGrpcGate(options: GrpcGateOptions): GrpcGate {
  const { entrance, hosts, requests, failures, onDenied, log } = options
  const letIn = new WeakMap<Metadata, Principal>()

  const decide = async (metadata: Metadata, at: { host: string; peer: string; path: string }): Promise<Refusal | undefined> => {
    const attempt = { peer: at.peer, method: 'GRPC', path: at.path }
    if (!hosts.has(at.host)) {
      onDenied({ ...attempt, why: 'host' })
      return {
        code: status.PERMISSION_DENIED,
        details: 'This server is not asked for under that name; add it to server.allowedHosts.',
      }
    }
    const [origin] = metadata.get('origin')
    if (origin !== undefined && !hosts.hasOrigin(String(origin))) {
      onDenied({ ...attempt, why: 'origin' })
      return { code: status.PERMISSION_DENIED, details: 'Pages of other origins may not call this server.' }
    }
    const principal = await authenticate(metadata)
    if (!principal) {
      onDenied({ ...attempt, why: 'token' })
      const waitS = failures.take(at.peer)
      if (waitS > 0) return tooOften(waitS, 'There were too many calls from here without a good token')
      return {
        code: status.UNAUTHENTICATED,
        details: 'This call needs a token that opens something here: send "authorization: Bearer <token>" in the metadata.',
      }
    }
    const waitS = principal.token === 'home' ? 0 : requests.take(principal.token)
    if (waitS > 0) return tooOften(waitS, 'This token asks more often than it may')
    letIn.set(metadata, principal)
    return undefined
  }

  const authenticate = async (metadata: Metadata): Promise<Principal | undefined> => {
    const shown = metadata.get('authorization')
    const given = shown.length === 1 ? /^bearer ([\x21-\x7e]+)$/i.exec(String(shown[0]))?.[1] : undefined
    return given === undefined ? undefined : entrance.authenticate(given, 'header')
  }

  return {
    principalOf: (metadata) => letIn.get(metadata),
    isStillIn: async (metadata) => (await authenticate(metadata)) !== undefined,
    interceptor(method, call) {
      return new ServerInterceptingCall(call, {
        start: (next) =>
          next({
            onReceiveMetadata(metadata, go) {
              const at = { host: call.getHost(), peer: addressOf(call.getPeer()), path: method.path }
              decide(metadata, at).then(
                (refusal) => {
                  if (!refusal) return go(metadata)
                  const trailer = new Metadata()
                  if (refusal.retryAfterS !== undefined) trailer.set('retry-after', String(refusal.retryAfterS))
                  call.sendStatus(withDetails({ code: refusal.code, details: refusal.details, metadata: trailer }))
                },
                (error: unknown) => {
                  log.error('a gRPC call could not be checked', { error: messageOf(error) })
                  call.sendStatus(
                    withDetails({ code: status.UNAVAILABLE, details: 'Nobody can be let in for the moment. Try again.' }),
                  )
                },
              )
            },
          }),
        sendStatus: (given, next) => next(withDetails(given)),
      })
    },
  }
}

const tooOften = (waitS: number, what: string): Refusal => ({
  code: status.RESOURCE_EXHAUSTED,
  details: `${what}; wait ${waitS} s.`,
  retryAfterS: waitS,
})

/** `127.0.0.1:4711` and `[::1]:4711` without the port. */
const addressOf = (peer: string) => peer.replace(/:\d+$/, '').replace(/^\[|\]$/g, '')

/** What has none of its own is told by the name of its code. */
function withDetails({ code, details, metadata }: PartialStatus): PartialStatus {
  const trailer = metadata ?? new Metadata()
  if (code !== status.OK && trailer.get(GRPC_STATUS_DETAILS_BIN).length === 0)
    trailer.set(
      GRPC_STATUS_DETAILS_BIN,
      encodeGrpcStatusDetails(code ?? status.UNKNOWN, details ?? '', status[code ?? 2] ?? 'UNKNOWN'),
    )
  return { code, details, metadata: trailer }
}
