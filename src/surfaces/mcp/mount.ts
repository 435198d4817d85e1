import type { Mount, MountedCall, MountedRefusal } from '../mount.ts'
import type { McpDoor } from './door.ts'

export const mcpPath = '/mcp'
const metadataPath = '/.well-known/oauth-protected-resource'

/** A prompt may have 10,000,000 bytes, and JSON writes a newline or a quote with two. */
const maxBodyBytes = 20 * 1024 * 1024

/** Where MCP is mounted. What serves it is loaded when somebody asks for it the first time. */
export function createMcpMount({ load }: { readonly load: () => Promise<McpDoor> }): Mount {
  let door: Promise<McpDoor> | undefined
  const handle = async (call: MountedCall) => {
    door ??= load()
    const response = await (await door).answer(call.request, call.principal!, call.signal)
    const { body, headers } = response
    if (!body || !headers.get('content-type')?.startsWith('text/event-stream')) return response
    // How a stream is sent is the business of the HTTP surface; the session is that of the protocol.
    const session = headers.get('mcp-session-id')
    return call.stream(textOf(body, call.signal), session === null ? {} : { 'Mcp-Session-Id': session })
  }
  const behindGate = { path: mcpPath, right: 'speak', handle, refuse, challenge, maxBodyBytes } as const
  const metadata = { method: 'GET', right: 'open', handle: async (call: MountedCall) => describe(call) } as const
  return {
    routes: [
      { ...behindGate, method: 'POST' },
      { ...behindGate, method: 'GET' },
      { ...behindGate, method: 'DELETE' },
      { ...metadata, path: metadataPath },
      { ...metadata, path: `${metadataPath}${mcpPath}` },
    ],
    stop: () => void door?.then((opened) => opened.stop()),
  }
}

/** Gives up as soon as nobody reads any more, also while there is nothing to read: the older era allows one stream of a kind at a time. */
async function* textOf(body: ReadableStream<Uint8Array>, gone: AbortSignal): AsyncIterable<string> {
  const reader = body.getReader()
  const decoder = new TextDecoder()
  const giveUp = () => void reader.cancel().catch(() => undefined)
  gone.addEventListener('abort', giveUp, { once: true })
  try {
    for (let read = await reader.read(); !read.done; read = await reader.read())
      yield decoder.decode(read.value, { stream: true })
  } finally {
    gone.removeEventListener('abort', giveUp)
    giveUp()
  }
}

const challenge = (origin: string) => `Bearer resource_metadata="${origin}${metadataPath}${mcpPath}"`

/** RFC 9728. Tokens are made by hand, by whoever owns this Pawl: there is no server to get them from. Nothing here tells of the home. */
const describe = ({ origin }: MountedCall) =>
  Response.json(
    {
      resource: `${origin}${mcpPath}`,
      resource_name: 'Pawl',
      bearer_methods_supported: ['header'],
      token_instructions:
        'Ask whoever owns this Pawl for a token, which "pawl token create" makes, and send it with every request as "Authorization: Bearer <token>".',
    },
    { headers: { 'Cache-Control': 'public, max-age=3600' } },
  )

/** What the gate refuses, in the words of the protocol: some clients read no other. */
const refuse = async ({ detail, code }: MountedRefusal) => ({
  type: 'application/json',
  body: { jsonrpc: '2.0', error: { code: -32_000, message: detail, data: { code } }, id: null },
})
