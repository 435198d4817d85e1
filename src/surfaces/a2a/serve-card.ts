import { createHash } from 'node:crypto'
import { A2A_VERSION_HEADER, AgentCard, canonicalizeAgentCard } from '@a2a-js/sdk'
import type { MountedCall } from '../mount.ts'
import { versionIn } from './service-parameters.ts'

/** A card as it is discovered. Clients that name no version are of 0.3 and are told beside it what they look for. */
export function serveCard(card: AgentCard, { request }: MountedCall, { isPublic }: { isPublic: boolean }): Response {
  const isCurrent = versionIn(request)?.startsWith('1.') === true
  const shown = isCurrent ? AgentCard.toJSON(card) : withLegacyFields(card)
  // Of what the card says: a signature made anew says the same.
  const digest = createHash('sha256')
    .update(canonicalizeAgentCard(card))
    .update(isCurrent ? '1' : '0')
  const etag = `W/"${digest.digest('base64url').slice(0, 22)}"`
  const headers = {
    ETag: etag,
    'Cache-Control': isPublic ? 'public, max-age=300' : 'private, max-age=60',
    Vary: `${A2A_VERSION_HEADER}, Authorization`,
  }
  const known = request.headers
    .get('if-none-match')
    ?.split(',')
    .map((one) => one.trim())
  if (known?.includes(etag) || known?.includes('*')) return new Response(null, { status: 304, headers })
  return new Response(JSON.stringify(shown), { headers: { 'Content-Type': 'application/json', ...headers } })
}

/** What is beside the fields of 1.0 is no part of what is signed. */
function withLegacyFields(card: AgentCard): Record<string, unknown> {
  const shown = AgentCard.toJSON(card) as Record<string, unknown> & { securitySchemes: Record<string, object> }
  const own = card.supportedInterfaces.find(({ protocolVersion }) => protocolVersion === '0.3')
  if (!own) return shown
  const schemes = Object.entries(shown.securitySchemes).map(([name, scheme]) => [
    name,
    { ...scheme, type: 'http', scheme: 'bearer' },
  ])
  return {
    ...shown,
    securitySchemes: Object.fromEntries(schemes),
    protocolVersion: '0.3.0',
    url: own.url,
    preferredTransport: own.protocolBinding,
    security: card.securityRequirements.map(({ schemes: needed }) =>
      Object.fromEntries(Object.entries(needed).map(([name, { list }]) => [name, list])),
    ),
    supportsAuthenticatedExtendedCard: card.capabilities?.extendedAgentCard ?? false,
  }
}
