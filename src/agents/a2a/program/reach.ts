import { lookup as lookUp } from 'node:dns'
import { type IncomingMessage, request as requestHttp } from 'node:http'
import { request as requestHttps } from 'node:https'
import { isIP, type LookupFunction } from 'node:net'
import { connect as connectTls } from 'node:tls'
import { classOf } from '../../../sandbox/egress/address-class.ts'
import { bounded } from './bounded.ts'
import { Failure, reasonOf } from './failure.ts'
import type { Reach } from './settings.ts'
import { tunnelTo } from './tunnel.ts'

export interface Way extends Reach {
  /** Where connections are asked for; undefined: they are made from here. */
  readonly proxy?: string | undefined
  readonly key?: string | undefined
  /** Sent along with everything. */
  readonly headers?: Readonly<Record<string, string>> | undefined
}

/** How long a remote agent has to begin its answer. */
const patienceMs = 60_000
const maxBodyBytes = 48 * 1024 * 1024

/**
 * Asks hosts that were named, and nobody else: no redirect is followed, so that the key goes nowhere that nobody chose. Each answer has a bound.
 */
export function createFetch(way: Way): typeof fetch {
  return async (input, init = {}) => {
    const url = new URL(input instanceof Request ? input.url : input)
    refuseStranger(way, url)
    const response = await ask(way, url, init)
    const { statusCode: status = 0 } = response
    if (status >= 300 && status < 400) {
      response.destroy()
      const to = response.headers.location ?? 'elsewhere'
      throw new Failure(
        'bad_config',
        `${url.href} redirects to ${to.slice(0, 500)}, which is not followed: correct the url of the agent.`,
      )
    }
    if (status === 401 || (status === 403 && !isRefusalOfTask(response))) throw await keyRefused(way, url, response)
    if (status === 429 || status === 502 || status === 503 || status === 504) throw await busy(url, response)
    return answerOf(response, url)
  }
}

function refuseStranger({ hosts }: Way, url: URL): void {
  if (url.protocol !== 'https:' && url.protocol !== 'http:')
    throw new Failure('bad_config', `${url.protocol} is no way to an agent.`)
  if (!hosts.includes(url.host))
    throw new Failure('bad_config', `${url.host} is another host than the agent's own; name it in hosts if it may be asked.`)
}

async function ask(way: Way, url: URL, init: RequestInit): Promise<IncomingMessage> {
  const isTls = url.protocol === 'https:'
  const signal = init.signal ?? undefined
  const name = url.hostname.replace(/^\[|\]$/g, '')
  const socket =
    way.proxy === undefined ? undefined : await tunnelTo(way.proxy, `${url.hostname}:${url.port || (isTls ? 443 : 80)}`, signal)
  const headers = { ...way.headers, ...Object.fromEntries(new Headers(init.headers)), ...keyHeader(way) }
  // An agent would make connections of its own.
  const onwards = socket && {
    createConnection: () =>
      isTls ? connectTls({ socket, ALPNProtocols: ['http/1.1'], ...(isIP(name) ? {} : { servername: name }) }) : socket,
  }
  const options = {
    method: init.method ?? 'GET',
    headers,
    signal,
    ...(onwards ?? { agent: false as const, lookup: guarded(way) }),
  }
  return new Promise((resolve, reject) => {
    const asked = (isTls ? requestHttps : requestHttp)(url, options)
    const late = setTimeout(() => asked.destroy(new Error(`no answer within ${patienceMs / 1_000} s`)), patienceMs)
    asked.on('response', (response) => {
      clearTimeout(late)
      resolve(response)
    })
    asked.on('error', (error) => {
      clearTimeout(late)
      reject(told(error))
    })
    asked.end(init.body ?? undefined)
  })

  function told(error: Error): Error {
    if (signal?.aborted || error instanceof Failure) return error
    return new Failure('network', `${url.origin} cannot be reached: ${reasonOf(error)}.`, { isPassing: true })
  }
}

const keyHeader = ({ key, keyHeader: name }: Way): Record<string, string> =>
  key === undefined ? {} : name === undefined ? { authorization: `Bearer ${key}` } : { [name.toLowerCase()]: key }

/** Where no door looks the name up. An address that was written down means exactly itself, and is not looked up. */
const guarded =
  ({ local }: Way): LookupFunction =>
  (name, options, tell) =>
    lookUp(name, { ...options, all: true }, (error, found) => {
      if (error) return tell(error, [])
      const stranger = found.find(({ address }) => !mayLeadTo(address, local))
      const [first] = found
      if (stranger || !first)
        return tell(
          new Failure(
            'permission_denied',
            `${name} leads to ${stranger?.address ?? 'nowhere'}, which is not public; set local to true if that is meant.`,
          ),
          [],
        )
      if (options.all) tell(null, found)
      else tell(null, first.address, first.family)
    })

const mayLeadTo = (address: string, local: boolean) => {
  const kind = classOf(address)
  return kind === 'public' || (kind === 'local' && local)
}

/** The HTTP binding says some of its errors with 403, in a body of its own form. */
const isRefusalOfTask = ({ headers }: IncomingMessage) => /a2a\+json|problem\+json/.test(headers['content-type'] ?? '')

async function keyRefused({ key }: Way, url: URL, response: IncomingMessage): Promise<Failure> {
  const said = await beginningOf(response)
  const what =
    key === undefined ? 'wants a key, and this agent has none: name one in auth' : 'refused the key: correct what auth names'
  return new Failure('auth_failed', `${url.host} ${what}.${said}`)
}

async function busy(url: URL, response: IncomingMessage): Promise<Failure> {
  const { statusCode: status } = response
  const seconds = Number(response.headers['retry-after'])
  const retryAfterMs = Number.isFinite(seconds) && seconds > 0 ? seconds * 1_000 : undefined
  const code = status === 429 ? 'rate_limited' : 'overloaded'
  return new Failure(code, `${url.host} answered ${status}.${await beginningOf(response)}`, { retryAfterMs, isPassing: true })
}

async function beginningOf(response: IncomingMessage): Promise<string> {
  const text = await answerOf(response, undefined, 16_384)
    .text()
    .catch(() => '')
  return text.trim() === '' ? '' : ` It said: ${text.trim().slice(0, 500)}`
}

function answerOf(response: IncomingMessage, url: URL | undefined, maxBytes = maxBodyBytes): Response {
  const { statusCode: status = 0, statusMessage: statusText = '' } = response
  const headers = new Headers()
  for (const [name, value] of Object.entries(response.headers)) if (value !== undefined) headers.set(name, String(value))
  if (status === 204 || status === 205) {
    response.resume()
    return new Response(null, { status, headers })
  }
  const isStream = headers.get('content-type')?.startsWith('text/event-stream') === true
  const from = url?.host ?? 'the remote agent'
  return new Response(bounded(response, { from, maxBytes: isStream ? undefined : maxBytes, isStream }), {
    status,
    headers,
    statusText,
  })
}
