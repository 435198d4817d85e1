import { randomUUID } from 'node:crypto'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'

/** A server of tools that lets in by OAuth, and the one who signs people in, in one: whoever comes is signed in. Tokens can be made to end. */
export async function startOAuthPeer() {
  const codes = new Set<string>()
  const tokens = new Set<string>()
  const asked: string[] = []
  const handler = createMcpHandler(() => {
    const server = new McpServer({ name: 'wiki', version: '7.8.9' })
    server.registerTool('look', { description: 'Looks it up.' }, () => ({ content: [{ type: 'text', text: 'it is so' }] }))
    return server
  })
  const http = createServer((request, response) => {
    void (async () => {
      const origin = `http://127.0.0.1:${(http.address() as AddressInfo).port}`
      const url = new URL(request.url ?? '/', origin)
      let body = ''
      for await (const chunk of request as AsyncIterable<Buffer>) body += chunk
      asked.push(`${request.method} ${url.pathname}`)
      const json = (value: unknown, status = 200) =>
        void response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(value))
      if (url.pathname.startsWith('/.well-known/oauth-protected-resource'))
        return json({ resource: `${origin}/mcp`, authorization_servers: [origin] })
      if (url.pathname === '/.well-known/oauth-authorization-server')
        return json({
          issuer: origin,
          authorization_endpoint: `${origin}/authorize`,
          token_endpoint: `${origin}/token`,
          registration_endpoint: `${origin}/register`,
          response_types_supported: ['code'],
          grant_types_supported: ['authorization_code', 'refresh_token'],
          code_challenge_methods_supported: ['S256'],
          token_endpoint_auth_methods_supported: ['none'],
        })
      if (url.pathname === '/register') return json({ ...JSON.parse(body), client_id: 'pawl-here' }, 201)
      if (url.pathname === '/authorize') {
        const code = randomUUID()
        codes.add(code)
        const back = new URL(url.searchParams.get('redirect_uri')!)
        back.search = new URLSearchParams({ code, state: url.searchParams.get('state')! }).toString()
        return void response.writeHead(302, { location: back.href }).end()
      }
      if (url.pathname === '/token') {
        const form = new URLSearchParams(body)
        asked.push(form.get('grant_type')!)
        const isGood = form.get('grant_type') === 'refresh_token' || codes.delete(form.get('code') ?? '')
        if (!isGood) return json({ error: 'invalid_grant' }, 400)
        const token = `token-${randomUUID()}`
        tokens.add(token)
        return json({ access_token: token, token_type: 'Bearer', expires_in: 3600, refresh_token: 'refresh-0123456789' })
      }
      if (!tokens.has(request.headers.authorization?.replace('Bearer ', '') ?? ''))
        return void response
          .writeHead(401, { 'www-authenticate': `Bearer resource_metadata="${origin}/.well-known/oauth-protected-resource/mcp"` })
          .end()
      const headers = Object.entries(request.headers).flatMap(([name, value]) =>
        typeof value === 'string' ? [[name, value] as [string, string]] : [],
      )
      const message = body === '' ? undefined : (JSON.parse(body) as unknown)
      const answer = await handler.fetch(
        new Request(url, { method: request.method ?? 'GET', headers, ...(message === undefined ? {} : { body }) }),
        message === undefined ? {} : { parsedBody: message },
      )
      response.writeHead(answer.status, Object.fromEntries(answer.headers)).end(await answer.text())
    })().catch(() => response.destroy())
  })
  await new Promise<void>((listening) => http.listen(0, '127.0.0.1', listening))
  return {
    url: `http://127.0.0.1:${(http.address() as AddressInfo).port}/mcp`,
    asked,
    /** Every token that was given ends now; what renews them does not. */
    endTokens: () => tokens.clear(),
    async stop() {
      http.closeAllConnections()
      await new Promise((closed) => http.close(closed))
    },
  }
}
