import type { IncomingMessage } from 'node:http'
import { sleep } from '../../base/clock.ts'
import { invalid, limited, messageOf, notFound } from '../../domain/error.ts'
import { recordable } from '../base/headers.ts'
import type { ClientAnswer } from '../client/answer.ts'
import { forGood, isPassing, refusalOf, refuse, unexpected } from '../client/refusals.ts'
import { type Addressed, ClientGone, drain, parsedBody, readBody } from '../client/request.ts'
import { inputTokens } from '../money/estimate.ts'
import { holdMs } from '../provider/cooldowns.ts'
import { createForeignSeals } from '../provider/foreign-seals.ts'
import type { RecordedAnswer, RecordedAsk } from '../recordings/recording.ts'
import { type AttemptParts, attempt, type Failure } from './attempt.ts'
import { type Call, payloadOf, withoutMode } from './call.ts'
import { passCount } from './count-tokens.ts'
import type { GatewayRun } from './gateway.ts'

export interface Serving {
  /** Serves one request of a client that may ask. Never rejects. */
  serve(request: IncomingMessage, answer: ClientAnswer, address: Addressed): Promise<void>
}

interface Held {
  /** Throws a `PawlError` (`limited`) if there is no room. */
  take(bytes: number): void
  free(): void
}

/** It is told in events, errors and figures. */
const maxNameChars = 200

export function createServing(parts: AttemptParts, run: GatewayRun): Serving {
  const { clock, limits } = parts
  const seals = createForeignSeals()
  let lastNumber = 0
  /** Of all requests that are not answered yet. */
  let heldBytes = 0

  async function serve(request: IncomingMessage, answer: ClientAnswer, address: Addressed): Promise<void> {
    const held = holding()
    try {
      const call = await read(request, answer, address, held)
      if (call) await answerTo(call)
    } catch (thrown) {
      held.free()
      if (thrown instanceof ClientGone) return
      const refusal = refusalOf(thrown)
      if (!refusal) run.log.error('the gateway failed', { error: messageOf(thrown) })
      await drain(request)
      refuse(answer, address.wire, refusal ?? unexpected, new Date(clock.now()))
    } finally {
      held.free()
    }
  }

  /** The bytes of one request, counted with those of all others. */
  function holding(): Held {
    let own = 0
    return {
      take(bytes) {
        if (heldBytes + bytes > limits.maxHeldBytes)
          throw limited(
            `All requests of this run may hold ${limits.maxHeldBytes} bytes at once; ask again when some are over.`,
            1,
          )
        own += bytes
        heldBytes += bytes
      },
      free() {
        heldBytes -= own
        own = 0
      },
    }
  }

  /** Undefined if it is answered already. */
  async function read(
    request: IncomingMessage,
    answer: ClientAnswer,
    { wire, asked, path }: Addressed,
    held: Held,
  ): Promise<Call | undefined> {
    const method = request.method ?? ''
    if (!asked) throw notFound(`"${method} ${path.split('?')[0]}" is nothing that a model is asked.`)
    const packing = request.headers['content-encoding'] ?? 'identity'
    if (packing !== 'identity') throw invalid(`The body is packed as "${packing.slice(0, 40)}"; send it as it is.`)
    const bytes = await readBody(request, limits.maxBodyBytes, held.take)
    if (!bytes) {
      await drain(request)
      const message = `The request is larger than ${limits.maxBodyBytes} bytes.`
      refuse(answer, wire, { kind: 'too_large', message }, new Date(clock.now()))
      return undefined
    }
    if (asked.kind === 'models') return void list(answer, { wire, asked, path }, bytes)
    const body = parsedBody(bytes)
    const head = wire.head(body, asked)
    if (head.model.length > maxNameChars) throw invalid(`The name of the model has more than ${maxNameChars} characters.`)
    const model = withoutMode(head.model)
    const number = ++lastNumber
    const call: Call = {
      ...{ run, number, wire, asked, method, path, headers: request.rawHeaders, head, model, answer, seals },
      payload: { bytes, body },
    }
    answer.onBegin = () => {
      call.payload = undefined
      held.free()
    }
    return call
  }

  function list(answer: ClientAnswer, { wire, path }: Addressed, bytes: Buffer): void {
    const bare = path.split('?')[0] ?? path
    const listed = wire.listed(run.routing.models, bare, bytes.length === 0 ? {} : parsedBody(bytes))
    if (!listed) throw notFound(`There is no such model for this run; there are ${run.routing.models.join(', ') || 'none'}.`)
    answer.json(200, {}, listed)
  }

  async function answerTo(call: Call): Promise<void> {
    const { answer, wire } = call
    const recorded = run.recorder || run.replay ? await record(call) : undefined
    if (recorded) return play(recorded, answer)
    const routes = parts.cooldowns.ordered(run.routing.routesOf(call.model))
    if (call.asked.kind === 'count_tokens') {
      const [route] = routes
      const isCounted = route !== undefined && route.provider.wire === wire.name && (await passCount(parts, call, route))
      if (!isCounted && !answer.gone.aborted) {
        const { bytes, body } = payloadOf(call)
        answer.json(200, {}, wire.counted(inputTokens(bytes, body)))
      }
      return
    }
    let first: Failure | undefined
    for (const route of routes) {
      let failure = await attempt(parts, call, route)
      const wait = failure && holdMs(failure.refusal, clock.now(), limits.maxHoldMs)
      if (wait !== undefined) {
        await Promise.race([sleep(clock, wait), leftBy(answer)])
        if (answer.gone.aborted) return
        failure = await attempt(parts, call, route)
      }
      if (!failure) return
      first ??= failure
      if (!failure.canGoElsewhere) break
    }
    if (!first) throw notFound(`There is no provider for the model "${call.model}".`)
    if (run.refusesForGood && isPassing(first.refusal)) refuse(answer, wire, forGood, new Date(clock.now()))
    else if (first.own) answer.whole(first.own.status, first.own.headers, first.own.body)
    else refuse(answer, wire, first.refusal, new Date(clock.now()))
  }

  /** What a recording answers in a provider's place. */
  async function record(call: Call): Promise<RecordedAnswer | undefined> {
    const { number, method, path } = call
    const ask: RecordedAsk = { number, method, path, headers: recordable(call.headers), body: payloadOf(call).bytes }
    call.answer.recorder = run.recorder?.begin(ask)
    const recorded = await run.replay?.answer(ask)
    return recorded === 'live' ? undefined : recorded
  }

  return { serve }
}

async function play({ status, headers, chunks }: RecordedAnswer, answer: ClientAnswer): Promise<void> {
  answer.head(status, Object.entries(headers).flat())
  for await (const chunk of chunks) {
    if (answer.gone.aborted) return
    if (!answer.write(Buffer.from(chunk.buffer, chunk.byteOffset, chunk.byteLength)))
      await Promise.race([new Promise<void>((resolve) => answer.onDrain(resolve)), leftBy(answer)])
  }
  answer.end()
}

const leftBy = ({ gone }: ClientAnswer) =>
  new Promise<void>((resolve) => {
    if (gone.aborted) resolve()
    else gone.addEventListener('abort', resolve)
  })
