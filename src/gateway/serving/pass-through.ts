import type { Clock } from '../../base/clock.ts'
import { headerIn } from '../base/headers.ts'
import { refuse } from '../client/refusals.ts'
import { cutOff, type Delivery, silent } from '../provider/delivery.ts'
import type { ProviderAnswer } from '../provider/exchange.ts'
import { returning, withoutKey } from '../provider/key-redaction.ts'
import { pump } from '../provider/pump.ts'
import { unpacked } from '../provider/source.ts'
import { isUsageOnly } from '../provider/usage-asking.ts'
import { collect } from '../provider/whole-answer.ts'
import { FrameCutter, framesIn } from '../wires/frame-cutter.ts'
import { createFrameSplitter } from '../wires/frames.ts'
import type { Frame, UsageReader, Wire } from '../wires/wire.ts'
import type { Call } from './call.ts'

export interface PassingOptions {
  readonly clock: Clock
  readonly idleMs: number
  readonly maxBytes: number
  readonly hidesUsage: boolean
  /** That by which we asked. */
  readonly key: string | undefined
  /** The first piece of the answer is here. */
  onFirst(): void
}

/** Gives a provider's answer to a client of the same format as it is, and reads what it says of its usage. */
export function passThrough(response: ProviderAnswer, call: Call, options: PassingOptions): Promise<Delivery> {
  return call.head.streams && !isJson(response) ? passStream(response, call, options) : passWhole(response, call, options)
}

const isJson = ({ headers }: ProviderAnswer) => headerIn(headers, 'content-type')?.startsWith('application/json') === true

async function passStream(response: ProviderAnswer, { wire, answer }: Call, options: PassingOptions): Promise<Delivery> {
  const { clock, idleMs, maxBytes, hidesUsage, key, onFirst } = options
  const cutter = new FrameCutter(wire.framing)
  const splitter = createFrameSplitter(wire.framing, { tooLong: 'skip' })
  const reader = wire.usageReader()
  let first: Frame | undefined
  let last: Frame | undefined
  let isFirst = true
  const read = (bytes: Buffer) => {
    const frames = splitter.push(bytes)
    for (const frame of frames) reader.frame(frame)
    first ??= frames[0]
    last = frames.at(-1) ?? last
    return frames
  }
  const take = (chunk: Buffer) => {
    if (isFirst) {
      isFirst = false
      onFirst()
    }
    const whole = cutter.push(chunk)
    if (!whole) return (cutter.rest?.length ?? 0) <= maxBytes || giveUp()
    if (!hidesUsage) {
      read(whole)
      return answer.write(whole)
    }
    const shown: Buffer[] = []
    for (const bytes of framesIn(whole, wire.framing)) if (!read(bytes).some(isUsageOnly)) shown.push(bytes)
    return shown.length === 0 || answer.write(shown.length === 1 ? shown[0]! : Buffer.concat(shown))
  }
  answer.head(response.status, returning(response.headers, key))
  const end = await pump(withoutKey(unpacked(response), key), { answer, clock, idleMs, take })
  if (end === 'gone') return { ...toldBy(reader), isAbandoned: true }
  if (end !== 'whole') {
    const refusal = end === 'late' ? silent : cutOff
    // What is left of a cut frame is dropped, so that the client can read why.
    if (!reader.hasEnded) refuse(answer, wire, refusal, new Date(clock.now()))
    else answer.end()
    return { ...toldBy(reader), ...(reader.hasEnded ? {} : { refusal }) }
  }
  if (cutter.rest) {
    for (const frame of splitter.end()) reader.frame(frame)
    answer.write(cutter.rest)
  }
  answer.end()
  return reader.hasEnded ? toldBy(reader) : { ...toldBy(reader), ...brokenOff(wire, first, last, clock) }
}

function giveUp(): never {
  throw new Error('a frame of a provider has no end')
}

/** A stream that ends as it should, with an error instead of an answer. */
function brokenOff(wire: Wire, first: Frame | undefined, last: Frame | undefined, clock: Clock): Delivery {
  if (!last || !/"error"|\.failed"/.test(last.data)) return { refusal: cutOff }
  const refusal = wire.refused({ status: 500, headers: {}, text: last.data }, new Date(clock.now()))
  return { refusal, isUnserved: first === last }
}

async function passWhole(response: ProviderAnswer, { wire, answer }: Call, options: PassingOptions): Promise<Delivery> {
  const collected = await collect(response, { ...options, answer })
  if (collected.end === 'gone') return { isAbandoned: true }
  if (collected.end !== 'whole') return { refusal: collected.end === 'late' ? silent : cutOff }
  answer.whole(response.status, returning(response.headers, options.key), collected.bytes)
  const reader = wire.usageReader()
  for (const body of collected.bodies()) reader.whole(body)
  return { usage: reader.usage }
}

/** Usage is a fact when the answer is whole; before that it is what was told so far. */
const toldBy = ({ usage, hasEnded }: UsageReader): Delivery => (hasEnded ? { usage } : { usageSoFar: usage })
