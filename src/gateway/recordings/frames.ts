import { isObjectOrArray } from '../../domain/base/object.ts'
import type { Redactor } from '../../redact/redactor.ts'
import type { Frame } from './format.ts'
import { jsonObject } from './pieces.ts'

export interface TimedBytes {
  readonly ms: number
  readonly bytes: Uint8Array
}

type Cleaner = Pick<Redactor, 'text' | 'value'>

/**
 * An answer as it is kept: whole events of a stream, each with the time at which its last byte came, so that no secret is cut in two by the network. One that the model
 * wrote over several events is found as well, and then stands in the first of them.
 */
export function keptFrames(chunks: readonly TimedBytes[], redactor: Cleaner): Frame[] {
  const bytes = Buffer.concat(chunks.map((chunk) => chunk.bytes))
  if (bytes.length === 0) return []
  const text = bytes.toString('utf8')
  if (!Buffer.from(text, 'utf8').equals(bytes)) return [[chunks.at(-1)!.ms, { base64: bytes.toString('base64') }]]
  const events = splitEvents(text)
  const times = timesOf(events, chunks)
  return cleaned(events, redactor).map((event, at) => [times[at]!, event])
}

export function* bytesOf(frames: readonly Frame[]): Generator<Uint8Array> {
  for (const [, content] of frames)
    yield typeof content === 'string' ? Buffer.from(content, 'utf8') : Buffer.from(content.base64, 'base64')
}

/** Server-sent events, or lines of JSON; anything else is one. Put together they are the text again. */
function splitEvents(text: string): string[] {
  if (/^(event|data|id|retry|:)/.test(text)) return text.split(/(?<=\r?\n\r?\n)/)
  const lines = text.split(/(?<=\n)/)
  return lines.length > 1 && lines.every((line) => line.trim() === '' || jsonObject(line)) ? lines : [text]
}

function timesOf(events: readonly string[], chunks: readonly TimedBytes[]): number[] {
  let [end, chunk, arrived] = [0, 0, chunks[0]!.bytes.length]
  return events.map((event) => {
    end += Buffer.byteLength(event)
    while (arrived < end && chunk < chunks.length - 1) arrived += chunks[++chunk]!.bytes.length
    return chunks[chunk]!.ms
  })
}

interface ReadEvent {
  /** What stands before and after the JSON. */
  readonly before: string
  readonly after: string
  value: unknown
  isChanged: boolean
}

function cleaned(events: readonly string[], redactor: Cleaner): string[] {
  const read = events.map((event): ReadEvent | string => {
    const [, before = '', json = '', after = ''] = /^((?:[\s\S]*?\n)?(?:data:\s?)?)(\{[\s\S]*\})(\s*)$/.exec(event) ?? []
    const value = jsonObject(json)
    if (!value) return redactor.text(event)
    const clean = redactor.value(value)
    return { before: redactor.text(before), after, value: clean, isChanged: clean !== value || redactor.text(before) !== before }
  })
  joinCut(read, redactor)
  return read.map((event, at) => {
    if (typeof event === 'string') return event
    return event.isChanged ? `${event.before}${JSON.stringify(event.value)}${event.after}` : events[at]!
  })
}

/** The fields in which providers send an answer bit by bit. */
const growing = new Set(['text', 'partial_json', 'thinking', 'delta', 'content', 'arguments', 'reasoning', 'reasoning_content'])
/** What tells one growing text from another beside it. */
const places = ['index', 'output_index', 'content_index', 'summary_index', 'item_id']

interface Bit {
  readonly event: ReadEvent
  readonly holder: Record<string, unknown>
  readonly key: string
}

/** What no single event shows: a secret of which each holds a bit. */
function joinCut(read: readonly (ReadEvent | string)[], redactor: Cleaner): void {
  const texts = new Map<string, Bit[]>()
  for (const event of read) {
    if (typeof event === 'string') continue
    const root = event.value as Record<string, unknown>
    const which = `${root.type} ${places.map((place) => root[place]).join(' ')}`
    const find = (value: unknown, path: string) => {
      if (!isObjectOrArray(value)) return
      for (const [key, inner] of Object.entries(value)) {
        const at = `${path}.${key}`
        if (typeof inner !== 'string') find(inner, at)
        else if (growing.has(key)) {
          const bits = texts.get(at) ?? []
          bits.push({ event, holder: value as Record<string, unknown>, key })
          texts.set(at, bits)
        }
      }
    }
    find(root, which)
  }
  for (const bits of texts.values()) {
    if (bits.length < 2) continue
    const whole = bits.map(({ holder, key }) => holder[key]).join('')
    const clean = redactor.text(whole)
    if (clean === whole) continue
    for (const [at, { event, holder, key }] of bits.entries()) {
      holder[key] = at === 0 ? clean : ''
      event.isChanged = true
    }
  }
}
