import { version } from '../base/version.ts'
import type { Runtime } from '../operations/runtime.ts'
import { saidVerbs } from '../operations/tasks/transcript.ts'
import type { Endpoints } from '../surfaces/a2a/endpoints.ts'
import type { Mount } from '../surfaces/mount.ts'
import type { Ground } from './ground.ts'

/** The ways in that are reached through the HTTP surface. `url` is where it listens, once it does; `grpc` where A2A is spoken over gRPC, if it is. */
export async function mountsOf(
  { config, database, clock, log, listeners, conformance }: Ground,
  { runtime, url, grpc }: { runtime: Runtime; url: () => string; grpc: () => string | undefined },
): Promise<{ mounts: Mount[]; a2aEndpoints: (() => Promise<Endpoints>) | undefined; stop: () => Promise<void> }> {
  const mounts: Mount[] = []
  let a2aEndpoints: (() => Promise<Endpoints>) | undefined
  const stopping = new AbortController()
  if (config.a2a.enabled) {
    const { mountA2A } = await import('../surfaces/a2a/mount.ts')
    const a2a = mountA2A({
      runtime,
      said: saidVerbs({ db: database.db, clock, limits: config.limits }),
      log,
      home: config.home,
      version,
      agents: () => config.agents.map(({ name }) => name),
      url: () => config.a2a.url ?? url(),
      publicCards: config.a2a.publicCards,
      signal: stopping.signal,
      listeners,
      planMessage: conformance?.a2a,
      otherInterfaces(agent) {
        const authority = grpc()
        if (authority === undefined) return []
        return [{ url: authority, protocolBinding: 'GRPC', protocolVersion: '1.0', tenant: agent ?? '' }]
      },
    })
    mounts.push(a2a)
    a2aEndpoints = a2a.endpoints
  }
  return { mounts, a2aEndpoints, stop: async () => stopping.abort() }
}
