import { createHash, timingSafeEqual } from 'node:crypto'
import type { MiddlewareHandler } from 'hono'
import { invalid } from '../../domain/error.ts'
import type { HttpEnv } from './app.ts'
import { Refusal } from './errors.ts'

/**
 * The one gate in front of every route, streams included. Host comes first, because a page that was re-bound to our address
 * carries no Origin; then Origin; then the token. No peer address is exempt.
 */
export function createGate(options: { token: string; hosts: AllowedHosts }): MiddlewareHandler<HttpEnv> {
  if (options.token.length < 16)
    throw invalid('The token of the HTTP surface has fewer than 16 characters; it must be hard to guess.')
  const expected = digest(options.token)
  return async (c, next) => {
    // The target must not name a host of its own: it would outrank the Host header that is checked below.
    const target = c.env?.incoming?.url
    if (target !== undefined && !target.startsWith('/'))
      throw new Refusal(400, 'invalid', 'The request target must be a path.', close)
    checkHost(c.req.header('host'), options.hosts)
    checkOrigin(c.req.header('origin'), c.req.header('sec-fetch-site'), options.hosts)
    if (!isLiveness(c.req.method, c.req.path)) checkToken(c.req.header('authorization'), expected)
    await next()
  }
}

/** The names under which this server may be asked for: those of loopback at the bound port, the bound address, and configured ones. */
export class AllowedHosts {
  readonly #configured: ReadonlySet<string>
  #bound: ReadonlySet<string> = new Set()

  constructor(configured: readonly string[] = []) {
    this.#configured = new Set(configured.map((host) => host.toLowerCase()))
  }

  bind(host: string, port: number): void {
    const names = ['127.0.0.1', 'localhost', '[::1]']
    if (!isAnyAddress(host)) names.push(host.includes(':') ? `[${host}]` : host)
    const bare = port === 80 ? names : []
    this.#bound = new Set([...names.map((name) => `${name}:${port}`), ...bare].map((name) => name.toLowerCase()))
  }

  has(host: string): boolean {
    const name = host.toLowerCase()
    return this.#bound.has(name) || this.#configured.has(name)
  }

  /** A configured name may stand behind a proxy that speaks TLS; what we bound ourselves is plain HTTP. */
  hasOrigin(origin: string): boolean {
    const [, scheme, host] = /^(https?):\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? []
    if (host === undefined) return false
    return this.#configured.has(host) || (scheme === 'http' && this.#bound.has(host))
  }
}

const close = { Connection: 'close' }

function checkHost(host: string | undefined, hosts: AllowedHosts): void {
  // Two Host headers arrive joined by a comma, which no host name contains.
  if (host === undefined || host === '' || host.includes(',')) {
    throw new Refusal(400, 'invalid', 'The request needs exactly one Host header.', close)
  }
  if (!hosts.has(host)) {
    throw new Refusal(
      421,
      'denied',
      'This server does not answer under that Host; use the address it printed, or add the name to its allowed hosts.',
      close,
    )
  }
}

function checkOrigin(origin: string | undefined, site: string | undefined, hosts: AllowedHosts): void {
  // Another port of localhost counts as the same site, yet it is another program: only our own pages and typed addresses pass.
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (foreign || (origin !== undefined && !hosts.hasOrigin(origin))) {
    throw new Refusal(403, 'denied', 'Requests from pages of another origin are refused.', close)
  }
}

function checkToken(header: string | undefined, expected: Buffer): void {
  // Two Authorization headers arrive joined by a comma and so match nothing.
  const given = /^bearer ([\x21-\x7e]+)$/i.exec(header ?? '')?.[1]
  if (given !== undefined && timingSafeEqual(digest(given), expected)) return
  throw new Refusal(
    401,
    'denied',
    header === undefined
      ? 'This request needs the token: send "Authorization: Bearer <token>" with the content of the file "token" in Pawl\'s home.'
      : 'The token is not the one of this daemon; it stands in the file "token" in Pawl\'s home.',
    { 'WWW-Authenticate': 'Bearer', ...close },
  )
}

const isLiveness = (method: string, path: string) => path === '/healthz' && (method === 'GET' || method === 'HEAD')
/** Equal lengths, so that comparing takes the same time whatever was sent. */
const digest = (text: string) => createHash('sha256').update(text).digest()

const isAnyAddress = (host: string) => host === '0.0.0.0' || host === '::'
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
