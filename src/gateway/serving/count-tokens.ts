import type { Route } from '../base/route.ts'
import { returning } from '../provider/key-redaction.ts'
import { UpstreamFailure } from '../provider/upstream.ts'
import { collect } from '../provider/whole-answer.ts'
import type { AttemptParts } from './attempt.ts'
import type { Call } from './call.ts'
import { outgoingTo } from './outgoing.ts'

/** Lets a provider count that can. It costs nothing, so nothing is reserved. False if the provider did not do it. */
export async function passCount({ upstream, clock, limits }: AttemptParts, call: Call, route: Route): Promise<boolean> {
  const { answer, method } = call
  try {
    const { path, headers, body, key } = await outgoingTo(route, call)
    const response = await upstream.send({ method, baseUrl: route.provider.baseUrl, path, headers, body, signal: answer.gone })
    const options = { answer, clock, idleMs: limits.idleMs, maxBytes: limits.maxBodyBytes, key, onFirst: () => {} }
    const { end, bytes } = await collect(response, options)
    if (end !== 'whole' || response.status !== 200) return false
    answer.whole(200, returning(response.headers, key), bytes)
    return true
  } catch (thrown) {
    if (thrown instanceof UpstreamFailure) return false
    throw thrown
  }
}
