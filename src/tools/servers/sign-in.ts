import { randomBytes } from 'node:crypto'
import type { McpServer } from '../../domain/agent/mcp-server.ts'
import { conflict, invalid, messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { createWebFetch, type WebFetch } from '../../sandbox/egress/web-fetch.ts'
import { createClient } from './client.ts'
import { transportTo } from './connect.ts'
import { createOAuth } from './oauth.ts'
import type { ServerPlace, ServerWay } from './port.ts'

type Way = Pick<ServerPlace, 'reach' | 'reveal'> & { readonly tokens: NonNullable<ServerPlace['tokens']> }

interface Begun {
  readonly state: string
  finish(query: URLSearchParams): Promise<void>
  close(): void
}

/** One who has not come back by then has gone away. */
const patienceMs = 15 * 60_000

/** Leads a person through a server's sign-in, in two steps between which their browser goes there and comes back. */
export function createSignIns(place: Way) {
  const begun = new Map<string, Begun>()
  const forget = (name: string) => {
    begun.get(name)?.close()
    begun.delete(name)
  }
  return {
    async begin(name: string, server: McpServer, redirectUrl: string): Promise<{ url: string }> {
      if (server.kind !== 'http' || !server.oauth)
        throw invalid(`Nobody has to sign in at the server "${name}": its settings do not say "oauth: true".`)
      if (server.oauth.grant === 'client_credentials')
        throw invalid(`Nobody has to sign in at the server "${name}": it lets Pawl in by its own id and secret.`)
      forget(name)
      const text = async (template: string | undefined) =>
        template === undefined ? undefined : (await place.reveal(template)).text
      const url = new URL((await text(server.url))!)
      const headers = Object.fromEntries(
        await Promise.all(Object.entries(server.headers).map(async ([key, value]) => [key, (await text(value))!] as const)),
      )
      const way: ServerWay = place.reach(url, { others: true })
      const fetch: WebFetch = createWebFetch(way.open)
      const state = randomBytes(16).toString('base64url')
      let shown: URL | undefined
      const show = (at: URL) => {
        shown = at
      }
      const { scope } = server.oauth
      const provider = createOAuth(
        name,
        {
          grant: 'authorization_code',
          scope,
          clientId: await text(server.oauth.clientId),
          clientSecret: await text(server.oauth.clientSecret),
        },
        { keeper: place.tokens, signIn: { redirectUrl, state, show } },
      )
      const timer = setTimeout(() => forget(name), patienceMs).unref()
      const close = () => {
        clearTimeout(timer)
        fetch.close()
        way.close()
      }
      const transport = transportTo(url, { transport: server.transport, headers, fetch, authProvider: provider })
      const client = createClient({ probeMs: server.startTimeoutMs })
      try {
        // Whoever asks to sign in wants to be asked, whatever was kept. What the server answers says where, and for what.
        await provider.invalidateCredentials?.('tokens')
        await client.connect(transport, { timeout: server.startTimeoutMs })
      } catch (error) {
        if (!shown) {
          close()
          throw error instanceof PawlError
            ? error
            : unavailable(`Nobody can sign in at the server "${name}": ${messageOf(error)}`, error)
        }
      }
      await client.close().catch(() => undefined)
      if (!shown) {
        close()
        throw conflict(`The server "${name}" lets Pawl in without asking anybody.`)
      }
      begun.set(name, {
        state,
        close,
        async finish(query) {
          if (query.get('state') !== state || !query.has('code'))
            throw invalid(
              `This is not the answer to the sign-in at "${name}"${query.get('error') ? ` (${query.get('error')})` : ''}; begin again.`,
            )
          await transport.finishAuth(query).catch((error: unknown) => {
            throw unavailable(`The sign-in at the server "${name}" was not taken: ${messageOf(error)}`, error)
          })
        },
      })
      return { url: (shown as URL).href }
    },

    async finish(name: string, query: string): Promise<void> {
      const waiting = begun.get(name)
      if (!waiting)
        throw conflict(`Nobody is just signing in at the server "${name}"; begin again: pawl mcp-servers sign-in ${name}`)
      try {
        await waiting.finish(new URLSearchParams(query))
      } finally {
        forget(name)
      }
    },
  }
}
