import { asText } from '../wires/fields.ts'
import type { JsonObject } from '../wires/model-request.ts'

/** Those that cost what is listed, or less. What decides by itself is taken for one of them. */
const plainTiers = new Set(['', 'auto', 'default', 'standard', 'standard_only', 'flex', 'batch', 'on_demand', 'scale'])
/** Above what any maker asks for answers that come sooner. */
const timesForTier = 2.5
const timesForSpeed = 6

/** How many times the listed price a request may cost that is passed on as it is, because it asks for a better service. */
export function timesPaid(body: JsonObject): number {
  const tiers = [body.service_tier, body.serviceTier].map((tier) => asText(tier).toLowerCase())
  if (asText(body.speed).toLowerCase() === 'fast') return timesForSpeed
  return tiers.every((tier) => plainTiers.has(tier)) ? 1 : timesForTier
}
