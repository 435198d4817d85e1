import { join } from 'node:path'
import { createDenials } from '../engine/entrance/denials.ts'
import type { Entrance } from '../engine/entrance/entrance.ts'
import type { Runtime } from '../engine/runtime.ts'
import { processIdentity } from '../process/identity.ts'
import { publishRunFile } from '../run-file.ts'
import { version } from '../version.ts'
import type { Ground } from './ground.ts'

/** Opens the API's port and says in the home where it is. */
export async function serveHttp(
  { config, clock, log, audit, secrets, started }: Ground,
  options: {
    runtime: Runtime
    entrance: Entrance
    /** Somebody asked for the port by name: another will not do. */
    portAsked: boolean
    insecurePlainHttp: boolean | undefined
    tls: { readonly cert: string; readonly key: string } | undefined
    shutdown: () => void
  },
): Promise<string> {
  const { runtime, entrance, portAsked, insecurePlainHttp, tls, shutdown } = options
  // A process without the API does not load it.
  const { createHttpSurface } = await import('../surfaces/http/server.ts')
  const { readPage } = await import('../surfaces/http/page-files.ts')
  const { createAccessLog } = await import('../surfaces/http/access-log.ts')
  const accessLog = createAccessLog({ file: join(config.home, 'access.log'), log })
  started.add(async () => accessLog.close())
  const denials = createDenials({ audit, clock, log })
  started.add(() => denials.stop())
  const surface = createHttpSurface({
    page: readPage(),
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
  })
  const { host, port } = config.server
  const { url } = await surface.start({ host, port, portAsked, insecurePlainHttp, tls })
  started.add(() => surface.stop())
  const certificate = tls ? { certificate: tls.cert } : {}
  await publishRunFile(config.home, { ...processIdentity(), url, version, ...certificate })
  return url
}
