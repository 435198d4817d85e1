import type { Right } from '../../domain/auth/role.ts'
import { findListenerKey } from '../../engine/delivery/listeners/key.ts'
import type { Mount, MountedCall, MountedRoute } from '../mount.ts'
import type { A2AServerParts, Endpoints } from './endpoints.ts'
import type { RestOperation } from './rest.ts'

/** A message may bring files along, which JSON makes a third longer. */
export const maxMessageBytes = 32 * 1024 * 1024

/** The addresses of A2A on the HTTP surface. What speaks the protocol is loaded when somebody first asks: a daemon that nobody asks does not pay for it. */
export function mountA2A(server: A2AServerParts): Mount & { endpoints: () => Promise<Endpoints> } {
  let loading: Promise<Loaded> | undefined
  const load = () => {
    loading ??= loadAll(server)
    return loading
  }
  // Who verifies a card reads the key along with it.
  const right: Right = server.publicCards ? 'open' : 'speak'
  const cardAt = (path: string) => card(load, { right, path, isPublic: server.publicCards })
  return {
    endpoints: async () => (await load()).endpoints,
    routes: [
      cardAt('/.well-known/agent-card.json'),
      cardAt('/a2a/.well-known/agent-card.json'),
      cardAt(`${agentBase}/.well-known/agent-card.json`),
      { method: 'GET', path: '/a2a/jwks.json', right, handle: async () => (await load()).keys() },
      ...operations(load, '/a2a'),
      ...operations(load, agentBase),
    ],
  }
}

const agentBase = '/a2a/agents/:agent'

const restPaths: readonly (readonly [MountedRoute['method'], string, RestOperation])[] = [
  ['POST', '/message:send', 'send'],
  ['POST', '/message:stream', 'stream'],
  ['GET', '/tasks', 'list'],
  ['GET', '/tasks/:id', 'get'],
  ['POST', '/tasks/:id', 'act'],
  ['POST', '/tasks/:id/pushNotificationConfigs', 'createPush'],
  ['GET', '/tasks/:id/pushNotificationConfigs', 'listPush'],
  ['GET', '/tasks/:id/pushNotificationConfigs/:config', 'getPush'],
  ['DELETE', '/tasks/:id/pushNotificationConfigs/:config', 'deletePush'],
  ['GET', '/extendedAgentCard', 'extendedCard'],
]

function operations(load: Load, base: string): MountedRoute[] {
  const common = { right: 'speak', maxBodyBytes: maxMessageBytes } as const
  return [
    {
      ...common,
      method: 'POST',
      path: base,
      handle: async (call) => (await load()).endpoints.of(call.params.agent).jsonRpc(call),
      refuse: async (refusal) => (await load()).refuseJsonRpc(refusal),
    },
    ...restPaths.map(
      ([method, path, operation]): MountedRoute => ({
        ...common,
        method,
        path: `${base}${path}`,
        bodyTypes: ['application/a2a+json'],
        handle: async (call) => (await load()).endpoints.of(call.params.agent).rest[operation](call),
        refuse: async (refusal) => (await load()).refuseRest(refusal),
      }),
    ),
  ]
}

function card(load: Load, { right, path, isPublic }: { right: Right; path: string; isPublic: boolean }): MountedRoute {
  return {
    method: 'GET',
    path,
    right,
    async handle(call: MountedCall) {
      const { endpoints, serveCard } = await load()
      return serveCard(await endpoints.of(call.params.agent).handler.getAgentCard(), call, { isPublic })
    },
  }
}

type Loaded = Awaited<ReturnType<typeof loadAll>>
type Load = () => Promise<Loaded>

async function loadAll(server: A2AServerParts) {
  const [{ createEndpoints }, { refuseJsonRpc }, { refuseRest }, { serveCard }] = await Promise.all([
    import('./endpoints.ts'),
    import('./json-rpc.ts'),
    import('./rest-errors.ts'),
    import('./serve-card.ts'),
  ])
  const endpoints = createEndpoints(server)
  return {
    endpoints,
    refuseJsonRpc,
    refuseRest,
    serveCard,
    async keys() {
      const { publicJwk } = await endpoints.cardKey()
      const push = await findListenerKey(server.home)
      const keys = [publicJwk, ...(push ? [{ ...push.jwk, kid: push.jwk.x, alg: 'EdDSA', use: 'sig' }] : [])]
      return new Response(JSON.stringify({ keys }), {
        headers: {
          'Content-Type': 'application/jwk-set+json',
          'Cache-Control': server.publicCards ? 'public, max-age=300' : 'private, max-age=60',
        },
      })
    },
  }
}
