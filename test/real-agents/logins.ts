import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'

/** A token as the programs read it: its middle part says until when it holds, and whose it is. */
export function madeUpToken(name: string, expiresInSeconds: number): string {
  const part = (value: object) => Buffer.from(JSON.stringify(value)).toString('base64url')
  const claims = {
    exp: Math.floor(Date.now() / 1000) + expiresInSeconds,
    jti: name,
    email: 'nobody@example.com',
    'https://api.openai.com/auth': { chatgpt_account_id: 'account-1', chatgpt_plan_type: 'plus', chatgpt_user_id: 'user-1' },
  }
  return `${part({ alg: 'none', typ: 'JWT' })}.${part(claims)}.${Buffer.from(`signature of ${name}`).toString('base64url')}`
}

/** What `claude` leaves in a home after a login. */
export const claudeLogin = (accessToken: string, expiresInSeconds: number) =>
  JSON.stringify({
    claudeAiOauth: {
      accessToken,
      refreshToken: `refresh-token-beside-${accessToken}`,
      expiresAt: Date.now() + expiresInSeconds * 1000,
      scopes: ['user:inference', 'user:profile'],
      subscriptionType: 'pro',
    },
  })

/** What `codex login` leaves in a home. */
export const codexLogin = (access: string, refreshToken: string, refreshedAt = new Date()) =>
  JSON.stringify({
    OPENAI_API_KEY: null,
    tokens: {
      id_token: madeUpToken('identity', 3600),
      access_token: access,
      refresh_token: refreshToken,
      account_id: 'account-1',
    },
    last_refresh: refreshedAt.toISOString(),
  })

export interface TokenEndpoint {
  readonly url: string
  /** Access tokens that were given out, in order. */
  readonly given: string[]
  /** How often a refresh token came that was used up. */
  refused: number
  close(): Promise<void>
}

/** This machine, as programs behind walls can speak of it: 127.0.0.1 is the walls' own there. */
const address = '127.0.0.2'

/** Renews logins as a provider does: each refresh token is good for one renewal, which brings the next. */
export async function startTokenEndpoint(first: string): Promise<TokenEndpoint> {
  let valid = first
  const endpoint = { url: '', given: [] as string[], refused: 0, close: async () => {} }
  const server = createServer(async (request, response) => {
    let body = ''
    for await (const chunk of request) body += chunk
    response.setHeader('content-type', 'application/json')
    if (!body.includes(valid)) {
      endpoint.refused++
      response.statusCode = 401
      response.end(JSON.stringify({ error: { code: 'refresh_token_reused', message: 'This refresh token was used already.' } }))
      return
    }
    const access = madeUpToken(`renewed-${endpoint.given.length}`, 3600)
    endpoint.given.push(access)
    valid = `renewed-refresh-token-${endpoint.given.length}-${Math.random()}`
    const id_token = madeUpToken('identity', 3600)
    response.end(JSON.stringify({ access_token: access, refresh_token: valid, id_token }))
  })
  await new Promise<void>((listening) => server.listen(0, address, listening))
  endpoint.url = `http://${address}:${(server.address() as AddressInfo).port}/oauth/token`
  endpoint.close = () => new Promise((closed) => server.close(() => closed()))
  return endpoint
}
