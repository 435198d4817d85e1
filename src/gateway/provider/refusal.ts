import { headerIn, named } from '../base/headers.ts'
import type { Provider } from '../base/route.ts'
import type { Refusal } from '../wires/model-event.ts'
import type { Wire } from '../wires/wire.ts'
import type { ProviderAnswer } from './exchange.ts'
import { returning } from './key-redaction.ts'
import { type Collecting, collect } from './whole-answer.ts'

/** An answer of a provider that is a refusal, as it came. */
export interface OwnWords {
  readonly status: number
  readonly headers: string[]
  readonly body: Buffer
}

export interface RefusalReading extends Collecting {
  readonly wire: Wire
  readonly provider: Provider
  /** What was asked. */
  readonly url: string
}

/** What a provider says that did not serve a request. */
export async function readRefusal(
  response: ProviderAnswer,
  { wire, provider, url, key, ...reading }: RefusalReading,
): Promise<{ refusal: Refusal; own?: OwnWords | undefined }> {
  const { status } = response
  const now = new Date(reading.clock.now())
  if (status < 400) {
    response.destroy()
    return { refusal: redirected(status, headerIn(response.headers, 'location'), provider) }
  }
  const { end, bytes } = await collect(response, { ...reading, key, maxBytes: maxRefusalBytes })
  const text = bytes.toString('utf8')
  const said = wire.refused({ status, headers: named(returning(response.headers, key)), text }, now)
  // Mostly an address that is set wrong: what the provider says of itself does not show it.
  const refusal = status === 404 ? { ...said, message: `${said.message} (404 at ${url.split('?')[0]})` } : said
  if (end !== 'whole') return { refusal }
  return {
    refusal,
    own: { status, headers: returning(response.headers, key), body: bytes },
  }
}

const maxRefusalBytes = 1024 * 1024

/** Following it would show the key to whoever is there. */
function redirected(status: number, location: string | undefined, { name }: Provider): Refusal {
  const where = location === undefined ? 'elsewhere' : `to ${originOf(location)}`
  const message = `The provider "${name}" answered ${status} and pointed ${where}. Redirects are not followed; set its base URL to the final address.`
  return { kind: 'forbidden', message }
}

const originOf = (location: string) => (URL.canParse(location) ? new URL(location).origin : 'another path')
