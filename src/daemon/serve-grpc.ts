import type { Entrance } from '../engine/auth/auth.ts'
import type { Denials } from '../engine/auth/denials.ts'
import type { Endpoints } from '../surfaces/a2a/endpoints.ts'
import type { Ground } from './ground.ts'

/** Opens the port on which A2A is spoken over gRPC, beside the API and by its rules. Answers the authority that cards name. */
export async function serveGrpc(
  { config, clock, log, started }: Ground,
  options: {
    entrance: Entrance
    endpoints: () => Promise<Endpoints>
    port: number
    onDenied: Denials['note']
    tls: { readonly cert: string; readonly key: string } | undefined
  },
): Promise<string> {
  const { entrance, endpoints, port, onDenied, tls } = options
  // A daemon that speaks no gRPC does not load it.
  const { createGrpcSurface } = await import('../surfaces/a2a/grpc/server.ts')
  const { AllowedHosts } = await import('../surfaces/http/hosts.ts')
  const { Buckets } = await import('../surfaces/http/rate-limit.ts')
  const { defaultRates } = await import('../surfaces/http/server.ts')
  const { maxMessageBytes } = await import('../surfaces/a2a/mount.ts')
  const surface = createGrpcSurface({
    endpoint: async (agent) => (await endpoints()).of(agent).handler,
    entrance,
    onDenied,
    log,
    hosts: new AllowedHosts(config.server.allowedHosts),
    requests: new Buckets(defaultRates.requests, clock),
    failures: new Buckets(defaultRates.failures, clock),
    maxMessageBytes,
  })
  started.add(() => surface.stop())
  const { authority, port: bound } = await surface.start({ host: config.server.host, port, tls })
  log.info('A2A is spoken over gRPC', { at: authority })
  // Whoever stands behind a name of its own is reached by that.
  return config.a2a.url === undefined ? authority : `${new URL(config.a2a.url).hostname}:${bound}`
}
