import { join } from 'node:path'
import { version } from '../base/version.ts'
import type { Entrance } from '../engine/auth/auth.ts'
import { createDenials } from '../engine/auth/denials.ts'
import type { Runtime } from '../operations/runtime.ts'
import { processIdentity } from '../sandbox/process/identity.ts'
import type { Ground } from './ground.ts'
import { publishRunFile } from './machine/run-file.ts'
import { mountMcp } from './mcp.ts'
import { metricsOf } from './metrics.ts'
import { mountsOf } from './mounts.ts'
import { serveGrpc } from './serve-grpc.ts'

/** Opens the API's port and says in the home where it is. */
export async function serveHttp(
  ground: Ground,
  options: {
    runtime: Runtime
    entrance: Entrance
    /** Somebody asked for the port by name: another will not do. */
    portAsked: boolean
    insecurePlainHttp: boolean | undefined
    tls: { readonly cert: string; readonly key: string } | undefined
    /** The content of the home's token file. */
    homeToken: string
    shutdown: () => void
  },
): Promise<string> {
  const { config, clock, log, audit, secrets, started } = ground
  const { runtime, entrance, portAsked, insecurePlainHttp, tls, homeToken, shutdown } = options
  // A process without the API does not load it.
  const { createHttpSurface } = await import('../surfaces/http/server.ts')
  const { readPage } = await import('../surfaces/http/page-files.ts')
  const { createAccessLog } = await import('../surfaces/http/access-log.ts')
  const accessLog = createAccessLog({ file: join(config.home, 'access.log'), log })
  started.add(async () => accessLog.close())
  const denials = createDenials({ audit, clock, log })
  started.add(() => denials.stop())
  let url = ''
  let grpc: string | undefined
  const { mounts, a2aEndpoints, stop } = await mountsOf(ground, { runtime, url: () => url, grpc: () => grpc })
  const surface = createHttpSurface({
    page: readPage(),
    metrics: metricsOf(ground),
    runtime,
    entrance,
    audit,
    secrets,
    accessLog,
    onDenied: denials.note,
    log,
    version,
    clock,
    allowedHosts: config.server.allowedHosts,
    shutdown,
    mounts: [...mounts, mountMcp(ground, { runtime, homeToken })],
  })
  const { host, port } = config.server
  url = (await surface.start({ host, port, portAsked, insecurePlainHttp, tls })).url
  started.add(() => surface.stop())
  if (a2aEndpoints && config.a2a.grpcPort !== undefined)
    grpc = await serveGrpc(ground, { entrance, endpoints: a2aEndpoints, port: config.a2a.grpcPort, onDenied: denials.note, tls })
  // Before the listeners: whoever waits there for the end of a task is told to come back.
  started.add(stop)
  const certificate = tls ? { certificate: tls.cert } : {}
  await publishRunFile(config.home, { ...processIdentity(), url, version, ...certificate })
  return url
}
