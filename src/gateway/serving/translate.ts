import type { Clock } from '../../base/clock.ts'
import { unavailable } from '../../domain/error.ts'
import { refuse } from '../client/refusals.ts'
import { cutOff, type Delivery, silent } from '../provider/delivery.ts'
import type { ProviderAnswer } from '../provider/exchange.ts'
import { withoutKey } from '../provider/key-redaction.ts'
import { namedSeals } from '../provider/own-seals.ts'
import { pump } from '../provider/pump.ts'
import { unpacked } from '../provider/source.ts'
import { createStopper, stopped } from '../provider/stop-sequences.ts'
import { collect } from '../provider/whole-answer.ts'
import { createFrameSplitter } from '../wires/frames.ts'
import type { ModelEvent, ModelUsage, Refusal } from '../wires/model-event.ts'
import type { Part } from '../wires/model-request.ts'
import type { Frame, Wire } from '../wires/wire.ts'
import type { Call } from './call.ts'
import { type ForeignRequest, streamTypes } from './outgoing.ts'

export interface TranslatingOptions {
  readonly clock: Clock
  readonly idleMs: number
  readonly maxBytes: number
  /** The provider's. */
  readonly wire: Wire
  /** Its name. */
  readonly provider: string
  readonly foreign: ForeignRequest
  /** The key by which we asked. It is redacted. */
  readonly key: string | undefined
  onFirst(): void
}

/** Gives a provider's answer to a client of another format, as it comes. As long as the client has got nothing, a refusal is only returned. */
export function translate(response: ProviderAnswer, call: Call, options: TranslatingOptions): Promise<Delivery> {
  return options.foreign.request.streams ? translateStream(response, call, options) : translateWhole(response, call, options)
}

async function translateStream(response: ProviderAnswer, call: Call, options: TranslatingOptions): Promise<Delivery> {
  const { answer } = call
  const { clock, idleMs, wire, provider, foreign, key, onFirst } = options
  const { request, clientName } = foreign
  const splitter = createFrameSplitter(wire.framing)
  const reader = wire.answerReader()
  const writer = call.wire.answerStream(request)
  const seals = namedSeals(provider)
  const stop = createStopper(request.stop)
  let usage: ModelUsage | undefined
  let hasEnded = false
  let hasAnswered = false
  let refusal: Refusal | undefined
  let isRefusedByProvider = false
  let isFirst = true

  const forClient = (event: ModelEvent) =>
    seals.event(event.type === 'tool_call' ? { ...event, name: clientName(event.name) } : event)
  /** Returns what the client gets for it. */
  const written = (events: readonly ModelEvent[]) => {
    let text = ''
    for (const event of stop(events)) {
      if (event.type === 'usage') usage = event.usage
      else if (event.type === 'end') hasEnded = true
      else if (event.type !== 'error' && event.type !== 'start') hasAnswered = true
      if (event.type !== 'error') text += writer.write(forClient(event))
      // An error behind the end takes nothing back.
      else if (!hasEnded) refusal ??= { kind: event.kind, message: event.message }
    }
    return text
  }
  const send = (text: string) => {
    if (text === '') return true
    if (!answer.hasBegun) answer.head(200, ['content-type', streamTypes[call.wire.framing], 'cache-control', 'no-cache'])
    return answer.write(text)
  }
  const translated = (frames: readonly Frame[]) => {
    let text = ''
    for (const frame of frames) {
      if (refusal) break
      text += written(reader.read(frame))
    }
    isRefusedByProvider = refusal !== undefined
    // The head of an answer that was refused at once is not sent: a refusal of its own says more.
    return refusal && !hasAnswered ? true : send(text)
  }
  const source = withoutKey(unpacked(response), key)
  const take = (chunk: Buffer) => {
    if (isFirst) {
      isFirst = false
      onFirst()
    }
    if (refusal) return true
    const wantsMore = translated(splitter.push(chunk))
    if (refusal) source.destroy()
    return wantsMore
  }
  const end = await pump(source, { answer, clock, idleMs, take })
  const told = () => (hasEnded ? { usage } : { usageSoFar: usage })
  if (end === 'gone') return { ...told(), isAbandoned: true }
  if (end === 'late' && !hasEnded) refusal ??= silent
  if (!refusal) {
    translated(splitter.end())
    if (!refusal) send(written(reader.end()))
  }
  if (!hasEnded) refusal ??= cutOff
  if (!refusal) {
    send(writer.end())
    answer.end()
    return told()
  }
  if (answer.hasBegun) refuse(answer, call.wire, refusal, new Date(clock.now()))
  return { ...told(), refusal, isUnserved: isRefusedByProvider && !hasAnswered && usage === undefined }
}

async function translateWhole(response: ProviderAnswer, call: Call, options: TranslatingOptions): Promise<Delivery> {
  const { wire, provider, foreign } = options
  const { request, clientName } = foreign
  const collected = await collect(response, { ...options, answer: call.answer })
  if (collected.end === 'gone') return { isAbandoned: true }
  if (collected.end !== 'whole') return { refusal: collected.end === 'late' ? silent : cutOff }
  const [body] = collected.bodies()
  if (!body) throw unavailable('The provider answered with something that is not JSON.')
  const read = namedSeals(provider).whole(stopped(wire.readWhole(body), request.stop))
  const named = (part: Part) => (part.kind === 'tool_call' ? { ...part, name: clientName(part.name) } : part)
  const answer = { ...read, parts: read.parts.map(named) }
  const written = call.wire.answerWhole(answer, request)
  call.answer.json(200, {}, call.asked.isArray ? [written] : written)
  return { usage: answer.usage }
}
