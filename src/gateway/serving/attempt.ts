import type { Clock } from '../../base/clock.ts'
import { messageOf } from '../../domain/error.ts'
import { traced } from '../base/headers.ts'
import type { GatewayLimits } from '../base/limits.ts'
import type { Route } from '../base/route.ts'
import { refusalOf, unexpected } from '../client/refusals.ts'
import { worstCase } from '../money/estimate.ts'
import type { Reservation, WorstCase } from '../money/purse.ts'
import { timesPaid } from '../money/service-tiers.ts'
import { type Cooldowns, mayBeServedElsewhere } from '../provider/cooldowns.ts'
import type { Delivery } from '../provider/delivery.ts'
import type { ProviderAnswer } from '../provider/exchange.ts'
import { isAboutSeals } from '../provider/foreign-seals.ts'
import { type OwnWords, readRefusal } from '../provider/refusal.ts'
import { serverToolsOf } from '../provider/server-tools.ts'
import { type Upstream, UpstreamFailure } from '../provider/upstream.ts'
import type { Refusal } from '../wires/model-event.ts'
import { type Call, payloadOf } from './call.ts'
import { type AttemptFacts, factsOf } from './call-facts.ts'
import { type Outgoing, outgoingTo } from './outgoing.ts'
import { passThrough } from './pass-through.ts'
import { translate } from './translate.ts'

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
  const failure = await tryOnce(parts, call, route)
  if (failure?.refusal.kind !== 'invalid' || route.provider.wire !== call.wire.name || !isAboutSeals(failure.refusal.message))
    return failure
  return call.seals.refuse(route.provider.account, payloadOf(call).body) ? tryOnce(parts, call, route) : failure
}

async function tryOnce(parts: AttemptParts, call: Call, route: Route): Promise<Failure | undefined> {
  const opened = await open(parts, call, route)
  return opened && 'response' in opened ? deliver(parts, call, opened) : opened
}

/** An answer that a provider has begun. Holds nothing of the request's content. */
interface Opened extends Pick<Outgoing, 'wire' | 'foreign' | 'hidesUsage' | 'key'> {
  readonly route: Route
  readonly url: string
  readonly response: ProviderAnswer
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
  const { wire, foreign, hidesUsage, key, path } = outgoing
  const facts = factsOf(parts.clock, call, route)
  const headers = traced(outgoing.headers, run.contextOf?.({ number: call.number, startedAt: facts.startedAt }))
  let { body } = outgoing
  let finish: Finish
  try {
    const worst = worstOf(call, route, outgoing)
    const reservation = await run.purse.reserve(worst)
    finish = finishing(reservation, parts, call, route, facts)
    if (reservation.outputTokens < worst.outputTokens) body = outgoing.bounded(reservation.outputTokens)
  } catch (thrown) {
    const refusal = expected(thrown, call)
    run.onCall?.(facts.end({ refusal }))
    return { refusal, canGoElsewhere: false }
  }
  try {
    const sent = { method: call.method, baseUrl: route.provider.baseUrl, path, headers, body, signal: answer.gone }
    const response = await parts.upstream.send(sent)
    facts.status = response.status
    const url = parts.upstream.urlOf(route.provider.baseUrl, path)
    return { wire, foreign, hidesUsage, key, route, url, response, facts, finish }
  } catch (thrown) {
    const { kind, message, wasSent } = thrown instanceof UpstreamFailure ? thrown : { ...expected(thrown, call), wasSent: false }
    const how = wasSent ? 'settle' : 'release'
    if (answer.gone.aborted) return void finish(how, { isAbandoned: true })
    finish(how, { refusal: { kind, message } })
    return { refusal: { kind, message }, canGoElsewhere: !wasSent }
  }
}

function worstOf(call: Call, route: Route, { foreign, leastOutputTokens }: Outgoing): WorstCase {
  const { bytes, body } = payloadOf(call)
  if (!foreign) {
    const pieces = route.provider.serverTools ? serverToolsOf(call.wire.name, body).pieces : undefined
    return { ...worstCase(bytes, body, call.head, route), times: timesPaid(body), leastOutputTokens, pieces }
  }
  // What is translated asks for no better service, and for no more than its model writes.
  const { maxOutputTokens } = foreign.request
  return { ...worstCase(bytes, body, { ...call.head, maxOutputTokens }, route), leastOutputTokens }
}

async function deliver(parts: AttemptParts, call: Call, opened: Opened): Promise<Failure | undefined> {
  const { response, facts, finish, wire, foreign, hidesUsage, key, route } = opened
  const { clock, limits } = parts
  const { answer } = call
  const options = { clock, idleMs: limits.idleMs, maxBytes: limits.maxBodyBytes, key, onFirst: facts.first }
  try {
    const status = response.status
    if (status < 200 || status >= 300) {
      const { refusal, own } = await readRefusal(response, {
        ...options,
        answer,
        wire,
        provider: route.provider,
        url: opened.url,
      })
      finish('release', { refusal, isAbandoned: answer.gone.aborted })
      if (answer.gone.aborted) return undefined
      return { refusal, own: wire === call.wire ? own : undefined, canGoElsewhere: mayBeServedElsewhere(refusal.kind) }
    }
    const delivery = foreign
      ? await translate(response, call, { ...options, wire, foreign, provider: route.provider.name })
      : await passThrough(response, call, { ...options, hidesUsage })
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
