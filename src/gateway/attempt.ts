import type { IncomingMessage } from 'node:http'
import type { Clock } from '../clock.ts'
import { messageOf } from '../domain/error.ts'
import { boundOutput, leastOutput } from './bounded-output.ts'
import { type Call, payloadOf } from './call.ts'
import { type AttemptFacts, factsOf } from './call-facts.ts'
import type { Delivery } from './delivery.ts'
import { worstCase } from './estimate.ts'
import { type Cooldowns, mayBeServedElsewhere } from './limits.ts'
import type { Refusal } from './model-event.ts'
import type { GatewayLimits } from './options.ts'
import { type Outgoing, outgoingTo } from './outgoing.ts'
import { passThrough } from './pass-through.ts'
import { type OwnWords, readRefusal } from './provider-refusal.ts'
import type { Reservation, WorstCase } from './purse.ts'
import { refusalOf, unexpected } from './refusals.ts'
import type { Route } from './route.ts'
import { timesPaid } from './service-tiers.ts'
import { translate } from './translate.ts'
import { type Upstream, UpstreamFailure } from './upstream.ts'

export interface AttemptParts {
  readonly clock: Clock
  readonly limits: GatewayLimits
  readonly upstream: Upstream
  readonly cooldowns: Cooldowns
}

/** A try that gave the client nothing. */
export interface Failure {
  readonly refusal: Refusal
  /** The provider's own words, where the client understands them. */
  readonly own?: OwnWords | undefined
  readonly canGoElsewhere: boolean
}

/** One try at one route. Undefined if the client has got an answer, or is gone. */
export async function attempt(parts: AttemptParts, call: Call, route: Route): Promise<Failure | undefined> {
  const opened = await open(parts, call, route)
  return opened && 'response' in opened ? deliver(parts, call, opened) : opened
}

/** An answer that a provider has begun. Holds nothing of the request's content. */
interface Opened extends Pick<Outgoing, 'wire' | 'request' | 'hidesUsage' | 'key'> {
  readonly route: Route
  readonly response: IncomingMessage
  readonly facts: AttemptFacts
  readonly finish: Finish
}

/** The end of the money of one try: the first call counts. */
type Finish = (how: 'settle' | 'release', delivery: Delivery) => void

/** The worst price is reserved before anything leaves. */
async function open(parts: AttemptParts, call: Call, route: Route): Promise<Opened | Failure | undefined> {
  const { run, answer } = call
  let outgoing: Outgoing
  try {
    outgoing = await outgoingTo(route, call)
  } catch (thrown) {
    return { refusal: expected(thrown, call), canGoElsewhere: true }
  }
  const { wire, request, hidesUsage, key, path, headers } = outgoing
  const facts = factsOf(parts.clock, call, route)
  let { body } = outgoing
  let finish: Finish
  try {
    const worst = worstOf(call, route, request !== undefined)
    const reservation = await run.purse.reserve(worst)
    finish = finishing(reservation, parts, call, route, facts)
    if (reservation.outputTokens < worst.outputTokens) body = boundOutput(body, wire.name, reservation.outputTokens)
  } catch (thrown) {
    const refusal = expected(thrown, call)
    run.onCall?.(facts.end({ refusal }))
    return { refusal, canGoElsewhere: false }
  }
  try {
    const sent = { method: call.method, baseUrl: route.provider.baseUrl, path, headers, body, signal: answer.gone }
    const response = await parts.upstream.send(sent)
    facts.status = response.statusCode
    return { wire, request, hidesUsage, key, route, response, facts, finish }
  } catch (thrown) {
    const { kind, message, wasSent } = thrown instanceof UpstreamFailure ? thrown : { ...expected(thrown, call), wasSent: false }
    const how = wasSent ? 'settle' : 'release'
    if (answer.gone.aborted) return void finish(how, { isAbandoned: true })
    finish(how, { refusal: { kind, message } })
    return { refusal: { kind, message }, canGoElsewhere: !wasSent }
  }
}

function worstOf(call: Call, route: Route, isTranslated: boolean): WorstCase {
  const { bytes, body } = payloadOf(call)
  const worst = worstCase(bytes, body, call.head, route)
  // What is translated asks for no better service, and is bounded by its route.
  if (isTranslated) return worst
  return { ...worst, times: timesPaid(body), leastOutputTokens: leastOutput(call.wire.name, body) }
}

async function deliver(parts: AttemptParts, call: Call, opened: Opened): Promise<Failure | undefined> {
  const { response, facts, finish, wire, request, hidesUsage, key, route } = opened
  const { clock, limits } = parts
  const { answer } = call
  const options = { clock, idleMs: limits.idleMs, maxBytes: limits.maxBodyBytes, onFirst: facts.first }
  try {
    const status = response.statusCode ?? 0
    if (status < 200 || status >= 300) {
      const { refusal, own } = await readRefusal(response, { ...options, answer, wire, provider: route.provider, key })
      finish('release', { refusal, isAbandoned: answer.gone.aborted })
      if (answer.gone.aborted) return undefined
      return { refusal, own: wire === call.wire ? own : undefined, canGoElsewhere: mayBeServedElsewhere(refusal.kind) }
    }
    const delivery = request
      ? await translate(response, call, { ...options, wire, request })
      : await passThrough(response, call, { ...options, hidesUsage, key })
    finish(delivery.isUnserved ? 'release' : 'settle', delivery)
    if (!delivery.refusal || answer.hasBegun || delivery.isAbandoned) return undefined
    const canGoElsewhere = delivery.isUnserved === true && mayBeServedElsewhere(delivery.refusal.kind)
    return { refusal: delivery.refusal, canGoElsewhere }
  } catch (thrown) {
    response.destroy()
    const refusal = expected(thrown, call)
    finish('settle', { refusal })
    return { refusal, canGoElsewhere: false }
  }
}

function finishing(reservation: Reservation, parts: AttemptParts, call: Call, route: Route, facts: AttemptFacts): Finish {
  let isFinished = false
  return (how, delivery) => {
    if (isFinished) return
    isFinished = true
    if (delivery.refusal) parts.cooldowns.note(route, delivery.refusal)
    const known = facts.end(delivery)
    reservation[how](known)
    call.run.onCall?.(known)
  }
}

/** What nobody expected is told to the log only. */
function expected(thrown: unknown, { run, number }: Call): Refusal {
  const refusal = refusalOf(thrown)
  if (!refusal) run.log.error('a model call failed', { call: number, error: messageOf(thrown) })
  return refusal ?? unexpected
}
