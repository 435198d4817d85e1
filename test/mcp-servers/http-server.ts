import { createServer, type IncomingMessage } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

export interface HttpPeer {
  readonly url: string
  /** What came in: the method of MCP, and whether the right token was shown. */
  readonly heard: readonly { readonly method: string; readonly authorization: string | undefined }[]
  stop(): Promise<void>
}

/** A real server of tools over streamable HTTP, behind a token, in both eras of the protocol or only in the older one. */
export async function startHttpPeer({ token, legacyOnly = false }: { token: string; legacyOnly?: boolean }): Promise<HttpPeer> {
  const heard: { method: string; authorization: string | undefined }[] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'library', version: '4.5.6' })
    server.registerTool('find', { description: 'Finds a book.', inputSchema: z.object({ title: z.string() }) }, ({ title }) => ({
      content: [{ type: 'text', text: `found: ${title}; the token was ${token}` }],
    }))
    return server
  })
  const http = createServer((request, response) => {
    void (async () => {
      const body = await textOf(request)
      const message = body === '' ? undefined : (JSON.parse(body) as { method?: string })
      heard.push({ method: message?.method ?? request.method ?? '', authorization: request.headers.authorization })
      if (request.headers.authorization !== `Bearer ${token}`) return void response.writeHead(401).end()
      if (legacyOnly && message?.method === 'server/discover')
        return void response.writeHead(200, { 'content-type': 'application/json' }).end(
          JSON.stringify({
            jsonrpc: '2.0',
            id: (message as { id?: unknown }).id,
            error: { code: -32601, message: 'Method not found' },
          }),
        )
      const asked = new Request(`http://127.0.0.1${request.url}`, {
        method: request.method ?? 'GET',
        headers: Object.entries(request.headers).flatMap(([name, value]) =>
          typeof value === 'string' ? [[name, value] as [string, string]] : [],
        ),
        ...(message === undefined ? {} : { body }),
      })
      const answer = await handler.fetch(asked, message === undefined ? {} : { parsedBody: message })
      response.writeHead(answer.status, Object.fromEntries(answer.headers))
      if (answer.body) for await (const chunk of answer.body) response.write(chunk)
      response.end()
    })().catch(() => response.destroy())
  })
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    heard,
    async stop() {
      http.closeAllConnections()
      await new Promise((closed) => http.close(closed))
    },
  }
}

async function textOf(request: IncomingMessage): Promise<string> {
  const chunks: Buffer[] = []
  for await (const chunk of request as AsyncIterable<Buffer>) chunks.push(chunk)
  return Buffer.concat(chunks).toString('utf8')
}
