import { Refusal } from './errors.ts'

/** The names under which this server may be asked for: those of loopback at the bound port, the bound address, and configured ones. */
export class AllowedHosts {
  readonly #configured: ReadonlySet<string>
  #bound: ReadonlySet<string> = new Set()
  #scheme = 'http'

  constructor(configured: readonly string[] = []) {
    this.#configured = new Set(configured.map((host) => host.toLowerCase()))
  }

  bind(host: string, port: number, { isSecure = false } = {}): void {
    const names = ['127.0.0.1', 'localhost', '[::1]']
    if (!isAnyAddress(host)) names.push(host.includes(':') ? `[${host}]` : host)
    const bare = port === (isSecure ? 443 : 80) ? names : []
    this.#bound = new Set([...names.map((name) => `${name}:${port}`), ...bare].map((name) => name.toLowerCase()))
    this.#scheme = isSecure ? 'https' : 'http'
  }

  has(host: string): boolean {
    const name = host.toLowerCase()
    return this.#bound.has(name) || this.#configured.has(name)
  }

  /** The origin under which somebody has reached us who asked for that host. */
  originOf(host: string): string {
    return `${this.#bound.has(host.toLowerCase()) ? this.#scheme : 'https'}://${host}`
  }

  /** A configured name may stand behind a proxy that speaks TLS; what we bound ourselves is spoken to as we speak. */
  hasOrigin(origin: string): boolean {
    const [, scheme, host] = /^(https?):\/\/([^/]+)$/.exec(origin.toLowerCase()) ?? []
    if (host === undefined) return false
    return this.#configured.has(host) || (scheme === this.#scheme && this.#bound.has(host))
  }
}

const close = { Connection: 'close' }

export function checkHost(host: string | undefined, hosts: AllowedHosts): void {
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

export function checkOrigin(origin: string | undefined, site: string | undefined, hosts: AllowedHosts): void {
  // Another port of localhost counts as the same site, yet it is another program: only our own pages and typed addresses pass.
  const foreign = site !== undefined && site !== 'same-origin' && site !== 'none'
  if (foreign || (origin !== undefined && !hosts.hasOrigin(origin))) {
    throw new Refusal(403, 'denied', 'Requests from pages of another origin are refused.', close)
  }
}

const isAnyAddress = (host: string) => host === '0.0.0.0' || host === '::'
export const isLoopback = (host: string) =>
  host === 'localhost' || host === '::1' || /^127\.\d{1,3}\.\d{1,3}\.\d{1,3}$/.test(host)
