import { Failure, sentenceOf } from './failure.ts'

/** A card as it came, with the keys that its signatures name. */
export interface FoundCard {
  readonly url: string
  readonly card: unknown
  /** By address: sets of keys as text. */
  readonly keys: Readonly<Record<string, string>>
}

const wellKnown = '/.well-known/agent-card.json'
const maxCardChars = 512 * 1024
const mostKeys = 3

/** Where the card of an agent may be: at the address itself, below it, or where its host has the one card it has. */
export function placesOf(address: string): string[] {
  const url = new URL(address)
  if (url.pathname.endsWith('.json')) return [url.href]
  const below = `${url.origin}${url.pathname.replace(/\/+$/, '')}${wellKnown}`
  const older = `${url.origin}/.well-known/agent.json`
  return [...new Set([below, `${url.origin}${wellKnown}`, older])]
}

/** Reads the card. Nothing in it is believed yet. */
export async function findCard(address: string, fetch: typeof globalThis.fetch, signal?: AbortSignal): Promise<FoundCard> {
  const places = placesOf(address)
  for (const url of places) {
    const response = await fetch(url, {
      headers: { accept: 'application/json', 'a2a-version': '1.0' },
      ...(signal ? { signal } : {}),
    })
    const text = await response.text()
    if (response.status === 404 || response.status === 405) continue
    if (!response.ok)
      throw new Failure('network', `${url} answers with ${response.status}.`, { isPassing: response.status >= 500 })
    if (text.length > maxCardChars)
      throw new Failure('output_limit', `The card at ${url} has more than ${maxCardChars / 1024} KB.`)
    const card = read(text, url)
    return { url, card, keys: await keysOf(card, fetch, signal) }
  }
  throw new Failure('bad_config', `There is no agent card at ${places.join(' or ')}: correct the url of the agent.`)
}

function read(text: string, url: string): unknown {
  try {
    return JSON.parse(text)
  } catch (thrown) {
    if (thrown instanceof SyntaxError) throw new Failure('protocol_error', `What is at ${url} is no agent card: it is no JSON.`)
    throw thrown
  }
}

/** Those that can be had from hosts that may be asked. Whether they are enough is decided by whoever knows what is wanted. */
async function keysOf(card: unknown, fetch: typeof globalThis.fetch, signal?: AbortSignal): Promise<Record<string, string>> {
  const keys: Record<string, string> = {}
  for (const url of keyPlaces(card).slice(0, mostKeys)) {
    try {
      const response = await fetch(url, signal ? { signal } : {})
      const text = await response.text()
      if (response.ok && text.length <= 65_536) keys[url] = text
    } catch (thrown) {
      if (signal?.aborted) throw thrown
      // Told with the verdict about the card: without its key a signature is as good as none.
      keys[url] = JSON.stringify({ unreachable: sentenceOf(thrown) })
    }
  }
  return keys
}

export function keyPlaces(card: unknown): string[] {
  const { signatures } = (card ?? {}) as { signatures?: unknown }
  const places = (Array.isArray(signatures) ? signatures : []).flatMap((signature) => {
    try {
      const header = JSON.parse(Buffer.from(String(signature?.protected), 'base64url').toString('utf8')) as { jku?: unknown }
      return typeof header.jku === 'string' && URL.canParse(header.jku) ? [header.jku] : []
    } catch (thrown) {
      if (thrown instanceof SyntaxError) return []
      throw thrown
    }
  })
  return [...new Set(places)]
}
