import {
  type AuthProvider,
  type Client,
  InsufficientScopeError,
  OAuthClientFlowError,
  type OAuthClientProvider,
  SdkError,
  SdkErrorCode,
  SdkHttpError,
  SSEClientTransport,
  StreamableHTTPClientTransport,
  type Transport,
  UnauthorizedError,
} from '@modelcontextprotocol/client'
import type { HttpServer, McpServer, StdioServer } from '../../domain/agent/mcp-server.ts'
import { messageOf, PawlError, unavailable } from '../../domain/error.ts'
import { createWebFetch } from '../../sandbox/egress/web-fetch.ts'
import { type ChildTransport, childTransport } from './child-transport.ts'
import { createClient } from './client.ts'
import { eliciting } from './elicit.ts'
import { byKeptTokens, createOAuth } from './oauth.ts'
import { type ServerFacts, type ServerPlace, signInReason } from './port.ts'

/** A server that answers. */
export interface Connected {
  readonly client: Client
  readonly facts: ServerFacts
  /** What must not come back in an answer. */
  readonly secrets: readonly string[]
  /** Why the connection is gone; undefined while it stands. */
  readonly gone: string | undefined
  close(): Promise<void>
}

/** Starts a server, or reaches it. Rejects with a `PawlError` that says what to do; then nothing of it is left. */
export async function connectServer(
  name: string,
  server: McpServer,
  place: ServerPlace,
  signal: AbortSignal,
): Promise<Connected> {
  try {
    return server.kind === 'stdio'
      ? await startProgram(name, server, place, signal)
      : await reachAddress(name, server, place, signal)
  } catch (error) {
    if (error instanceof PawlError) throw error
    throw unavailable(`The server "${name}" cannot be used: ${messageOf(error)}.`, error)
  }
}

async function startProgram(name: string, server: StdioServer, place: ServerPlace, signal: AbortSignal): Promise<Connected> {
  const { text, secrets } = await revealing(place)
  const command = {
    file: await text(server.command),
    args: await Promise.all(server.args.map(text)),
    env: Object.fromEntries(
      await Promise.all(Object.entries(server.env).map(async ([key, value]) => [key, await text(value)] as const)),
    ),
    cwd: server.cwd,
  }
  const elicit = place.ask && eliciting(name, place.ask)
  // An old server may end when it hears a word that it does not know; then it is asked in the old way.
  for (const era of [undefined, 'legacy'] as const) {
    const transport = childTransport(await place.launch(command))
    const client = createClient({ workspace: place.workspace, elicit, era })
    try {
      await client.connect(transport, { timeout: server.startTimeoutMs, signal })
      return connected(client, secrets, () => transport.exit && endedSentence(name, transport))
    } catch (error) {
      await Promise.allSettled([client.close(), transport.close()])
      signal.throwIfAborted()
      const hasEnded = transport.exit !== undefined && !isLate(error)
      if (hasEnded && era === undefined && transport.exit?.code !== 127) continue
      const hidden = hasEnded ? await place.unseen(command.args.filter((word) => word.startsWith('/'))) : []
      throw failure(name, transport, { error, hasEnded, hidden, startTimeoutMs: server.startTimeoutMs })
    }
  }
  throw unavailable(`The server "${name}" ends at once.`)
}

function failure(
  name: string,
  transport: ChildTransport,
  {
    error,
    hasEnded,
    hidden,
    startTimeoutMs,
  }: { error: unknown; hasEnded: boolean; hidden: readonly string[]; startTimeoutMs: number },
): PawlError {
  const unseen =
    hidden.length > 0
      ? ` Its command names ${hidden.join(', ')}, which cannot be seen inside the walls: add it to "mounts" of the profile, or to the workspace.`
      : ''
  if (hasEnded) return unavailable(`${endedSentence(name, transport)}${unseen}`, error)
  const complaint = transport.complaint()
  const said = complaint === '' ? '' : ` It wrote: ${lastOf(complaint)}`
  return isLate(error)
    ? unavailable(
        `The server "${name}" was started and did not answer within ${startTimeoutMs / 1_000} s; see that its command speaks MCP, or raise startTimeout.${said}`,
        error,
      )
    : unavailable(`The server "${name}" was started and is not understood: ${messageOf(error)}.${said}`, error)
}

function endedSentence(name: string, transport: ChildTransport): string {
  const { code, signal } = transport.exit ?? {}
  const how = signal ? `was ended by ${signal}` : `ended with exit code ${code}`
  const complaint = transport.complaint()
  const said = complaint === '' ? ' and said nothing about it' : `; it wrote: ${lastOf(complaint)}`
  const cure = code === 127 ? ' Its program, or one that it starts, is not there inside the walls.' : ''
  return `The program of the server "${name}" ${how}${said}.${cure}`
}

const lastOf = (complaint: string) => complaint.split('\n').slice(-5).join(' | ').slice(-600)

async function reachAddress(name: string, server: HttpServer, place: ServerPlace, signal: AbortSignal): Promise<Connected> {
  const { text, secrets } = await revealing(place)
  const url = new URL(await text(server.url))
  const headers = Object.fromEntries(
    await Promise.all(Object.entries(server.headers).map(async ([key, value]) => [key, await text(value)] as const)),
  )
  const way = place.reach(url, { others: server.oauth !== undefined })
  const fetch = createWebFetch(way.open)
  const authProvider = await letIn(name, server, place, text)
  const elicit = place.ask && eliciting(name, place.ask)
  const client = createClient({ workspace: place.workspace, elicit, probeMs: server.startTimeoutMs })
  const leave = async () => {
    await client.close().catch(() => undefined)
    fetch.close()
    way.close()
  }
  try {
    await client.connect(transportTo(url, { transport: server.transport, headers, fetch, authProvider }), {
      timeout: server.startTimeoutMs,
      signal,
    })
    return connected(client, secrets, () => undefined, leave)
  } catch (error) {
    await leave()
    signal.throwIfAborted()
    throw addressFailure(name, url, server, error)
  }
}

export interface TransportParts {
  readonly transport: HttpServer['transport']
  readonly headers: Readonly<Record<string, string>>
  readonly fetch: (url: string | URL, init?: RequestInit) => Promise<Response>
  readonly authProvider?: AuthProvider | OAuthClientProvider | undefined
}

export function transportTo(
  url: URL,
  { transport, headers, fetch, authProvider }: TransportParts,
): Transport & { finishAuth(response: URLSearchParams): Promise<void> } {
  const options = { fetch, requestInit: { headers }, ...(authProvider ? { authProvider } : {}) }
  return transport === 'sse' ? new SSEClientTransport(url, options) : new StreamableHTTPClientTransport(url, options)
}

/** Undefined where a header, or nothing, is all it takes. */
async function letIn(
  name: string,
  { oauth }: HttpServer,
  { tokens }: ServerPlace,
  text: (template: string) => Promise<string>,
): Promise<AuthProvider | OAuthClientProvider | undefined> {
  if (!oauth || !tokens) return undefined
  const provider = createOAuth(
    name,
    {
      grant: oauth.grant,
      scope: oauth.scope,
      clientId: oauth.clientId === undefined ? undefined : await text(oauth.clientId),
      clientSecret: oauth.clientSecret === undefined ? undefined : await text(oauth.clientSecret),
    },
    // Nobody is sent anywhere from here; without an address the SDK would not renew what was kept.
    { keeper: tokens, signIn: { redirectUrl: 'http://127.0.0.1/callback' } },
  )
  return oauth.grant === 'client_credentials' ? provider : byKeptTokens(provider)
}

function addressFailure(name: string, url: URL, { oauth, startTimeoutMs }: HttpServer, error: unknown): PawlError {
  if (error instanceof PawlError) return error
  const status = error instanceof SdkHttpError ? error.status : undefined
  if (error instanceof UnauthorizedError || status === 401 || status === 403 || error instanceof InsufficientScopeError) {
    const details = { reason: signInReason }
    return oauth
      ? new PawlError('unavailable', `The server "${name}" wants somebody to sign in: pawl mcp-servers sign-in ${name}`, {
          details,
        })
      : new PawlError(
          'unavailable',
          `The server "${name}" does not let Pawl in (${status ?? 401}): see that its headers name the right secret, or set "oauth: true" and run "pawl mcp-servers sign-in ${name}".`,
          status === 401 || error instanceof UnauthorizedError ? { details } : {},
        )
  }
  if (error instanceof OAuthClientFlowError)
    return unavailable(`The server "${name}" cannot be signed in to: ${messageOf(error)}`, error)
  if (isLate(error))
    return unavailable(`The server "${name}" at ${url.host} did not answer within ${startTimeoutMs / 1_000} s.`, error)
  const cause = causeIn(error)
  if (cause) return unavailable(`The server "${name}" cannot be reached: ${cause.message}`, error)
  return unavailable(
    status === undefined
      ? `The server at ${url.host} ("${name}") is not understood: ${messageOf(error)}.`
      : `The server "${name}" answers with ${status}; see that its url leads to where it speaks MCP (often /mcp).`,
    error,
  )
}

/** Our own refusals lie below what the SDK says of them. */
function causeIn(error: unknown): PawlError | undefined {
  for (let at = error, depth = 0; at instanceof Error && depth < 8; at = at.cause, depth++) {
    if (at instanceof PawlError) return at
    const data = at instanceof SdkError ? (at.data as { cause?: unknown } | undefined)?.cause : undefined
    if (data instanceof PawlError) return data
  }
  return undefined
}

export const isLate = (error: unknown) => error instanceof SdkError && error.code === SdkErrorCode.RequestTimeout

async function revealing(place: ServerPlace) {
  const secrets: string[] = []
  const text = async (template: string) => {
    const revealed = await place.reveal(template)
    secrets.push(...revealed.secrets)
    return revealed.text
  }
  return { text, secrets }
}

function connected(
  client: Client,
  secrets: readonly string[],
  goneWhy: () => string | undefined,
  leave: () => Promise<void> = () => client.close(),
): Connected {
  const info = client.getServerVersion()
  let gone: string | undefined
  client.onclose = () => {
    gone ??= goneWhy() ?? 'its connection is gone'
  }
  return {
    client,
    secrets,
    facts: {
      server: info?.name ?? null,
      version: info?.version ?? null,
      protocol: client.getNegotiatedProtocolVersion() ?? null,
      era: client.getProtocolEra() ?? null,
    },
    get gone() {
      return gone
    },
    close: leave,
  }
}
