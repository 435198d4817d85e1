import type { AgentCard, AgentInterface } from '@a2a-js/sdk'
import { isObject } from '../../domain/base/object.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { cut } from '../shared/text.ts'
import { type A2aOptions, hostsOf } from './options.ts'
import type { FoundCard } from './program/card.ts'
import type { Chosen } from './program/settings.ts'
import { checkSignature, type Signed } from './signature.ts'

/** A card that may be believed, and what is used of it. */
export interface JudgedCard {
  readonly name: string
  readonly version: string
  readonly skills: readonly string[]
  /** `1.0 by JSONRPC`, all that it offers. */
  readonly offers: readonly string[]
  readonly signed: Signed
  readonly chosen: Chosen
  /** The header that it wants a key in, if it says so. */
  readonly keyHeader: string | undefined
  readonly wantsKey: boolean
}

/** Ours to speak, the ones that we would rather first. */
const bindings = ['JSONRPC', 'HTTP+JSON']

/** Decides about a card as it came from a stranger. Throws a `PawlError` that says what is wrong with it. */
export async function judgeCard({ url, card: raw, keys }: FoundCard, options: A2aOptions): Promise<JudgedCard> {
  // Only those who talk to remote agents pay for the library.
  const [{ AgentCard: Card }, { DefaultAgentCardResolver }] = await Promise.all([
    import('@a2a-js/sdk'),
    import('@a2a-js/sdk/client'),
  ])
  if (!isObject(raw)) throw refused(url, 'it is no JSON object')
  const isOld = !('supportedInterfaces' in raw)
  const card = readCard()
  const signed = await checkSignature({ raw, card, isOld, keys }, options).catch((thrown: unknown) => {
    throw refused(url, messageOf(thrown))
  })
  const { chosen } = choose(card, url, options)
  const schemes = Object.values(card.securitySchemes ?? {}).map(({ scheme }) => scheme)
  const header = schemes.flatMap((scheme) =>
    scheme?.$case === 'apiKeySecurityScheme' && scheme.value.location === 'header' ? [scheme.value.name] : [],
  )[0]
  return {
    name: cut(card.name || 'an agent without a name', 200),
    version: cut(card.version || '', 100),
    skills: card.skills.slice(0, 50).map(({ id, name }) => cut(name || id, 100)),
    offers: card.supportedInterfaces
      .slice(0, 10)
      .map(({ protocolVersion, protocolBinding }) => cut(`${protocolVersion || '1.0'} by ${protocolBinding}`, 100)),
    signed,
    chosen: { ...chosen, streaming: card.capabilities?.streaming === true },
    keyHeader: header === undefined ? undefined : cut(header, 100),
    wantsKey: (card.securityRequirements?.length ?? 0) > 0,
  }

  function readCard(): AgentCard {
    try {
      const read = isOld ? new DefaultAgentCardResolver({ legacyCompat: { enabled: true } }).normalizeAgentCard(raw) : raw
      return Card.fromJSON(isOld ? Card.toJSON(read as AgentCard) : read)
    } catch (thrown) {
      throw refused(url, `it cannot be read (${messageOf(thrown)})`)
    }
  }
}

/** The newest version that both speak, on a host that may be asked. */
function choose(card: AgentCard, url: string, options: A2aOptions): { chosen: Omit<Chosen, 'streaming'> } {
  const hosts = hostsOf(options)
  const known = card.supportedInterfaces.filter(
    ({ protocolBinding, protocolVersion }) => bindings.includes(protocolBinding.toUpperCase()) && rankOf(protocolVersion) > 0,
  )
  if (known.length === 0) {
    const offered = card.supportedInterfaces.map(
      ({ protocolVersion, protocolBinding }) => `${protocolVersion} by ${protocolBinding}`,
    )
    throw refused(
      url,
      `it offers ${cut(offered.join(', ') || 'nothing', 300)}, and Pawl speaks A2A 1.0 and 0.3 by JSONRPC and HTTP+JSON`,
    )
  }
  const near = known.filter((offered) => isNear(offered, hosts, options))
  const [best] = near.toSorted(
    (one, other) => rankOf(other.protocolVersion) - rankOf(one.protocolVersion) || placeOf(one) - placeOf(other),
  )
  if (!best) {
    const others = known.map((offered) => offered.url).join(', ')
    throw refused(
      url,
      `it sends tasks to ${cut(others, 300)}, which is not on ${hosts.join(' or ')}; name that host in hosts if it may be asked, and https must stay https`,
    )
  }
  const { url: to, protocolBinding, protocolVersion, tenant } = best
  return { chosen: { url: to, protocolBinding, protocolVersion, tenant } }
}

const placeOf = ({ protocolBinding }: AgentInterface) => bindings.indexOf(protocolBinding.toUpperCase())

/** 0 for what we do not speak. Versions before 0.3 are another protocol. */
function rankOf(version: string): number {
  const [, major = '1', minor = '0'] = /^(\d+)\.(\d+)/.exec(version || '1.0') ?? []
  return major === '1' ? 2 : major === '0' && minor === '3' ? 1 : 0
}

function isNear({ url }: AgentInterface, hosts: readonly string[], options: A2aOptions): boolean {
  if (!URL.canParse(url)) return false
  const { protocol, host } = new URL(url)
  const isAsSafe = protocol === 'https:' || (protocol === 'http:' && options.url.startsWith('http:'))
  return isAsSafe && hosts.includes(host)
}

const refused = (url: string, why: string) =>
  new PawlError('denied', `The agent card at ${url} is refused: ${why.replace(/\.$/, '')}.`)
