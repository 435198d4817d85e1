import fc from 'fast-check'
import type { EndReason, ModelEvent, ModelUsage } from '../../src/gateway/wires/model-event.ts'
import type { ImagePart, JsonObject, Message, ModelRequest, Part, TextPart, Tool } from '../../src/gateway/wires/model-request.ts'
import { markedSeal } from '../../src/gateway/wires/seal.ts'
import type { WireName } from '../../src/gateway/wires/wire.ts'

// Requests and answers in neutral words, as any client and any provider could mean them.

const name = fc.stringMatching(/^[a-z][a-z0-9_]{0,11}$/)
/** Some formats refuse texts of nothing but blanks, so there are none. */
const words = fc.string({ unit: 'grapheme', minLength: 1, maxLength: 24 }).map((text) => `.${text}.`)
const value = fc.oneof(words, fc.integer(), fc.boolean(), fc.constant(null), fc.array(words, { maxLength: 3 }))
const input: fc.Arbitrary<JsonObject> = fc.dictionary(name, fc.oneof(value, fc.dictionary(name, value, { maxKeys: 3 })), {
  maxKeys: 4,
  noNullPrototype: true,
})

const text: fc.Arbitrary<TextPart> = words.map((it) => ({ kind: 'text', text: it }))
/** Real beginnings: one format tells the kind by them. */
const beginnings = { 'image/png': 'iVBORw0KGgo', 'image/jpeg': '/9j/4AAQ' } as const
const image: fc.Arbitrary<ImagePart> = fc
  .tuple(fc.constantFrom('image/png', 'image/jpeg'), fc.base64String({ minLength: 4, maxLength: 12 }))
  .map(([mediaType, data]) => ({ kind: 'image', mediaType, data: beginnings[mediaType] + data }))

const property: fc.Arbitrary<JsonObject> = fc.oneof(
  words.map((description) => ({ type: 'string', description })),
  fc.constantFrom('integer', 'number', 'boolean', 'string').map((type) => ({ type })),
  fc.uniqueArray(name, { minLength: 1, maxLength: 3 }).map((values) => ({ type: 'string', enum: values })),
  fc.constant({ type: 'array', items: { type: 'string' } }),
  fc.constant({ type: 'object', properties: { inner: { type: 'integer' } }, required: ['inner'] }),
)
export const schema: fc.Arbitrary<JsonObject> = fc
  .dictionary(name, property, { minKeys: 1, maxKeys: 4, noNullPrototype: true })
  .map((properties) => ({ type: 'object', properties, required: Object.keys(properties).slice(0, 1) }))

const tool: fc.Arbitrary<Tool> = fc.record({ name, description: words, schema })

/** A thought with a seal of that format, or one without. */
const thought = (wire: WireName): fc.Arbitrary<Part[]> =>
  fc.oneof(
    fc.constant<Part[]>([]),
    words.map((it): Part[] => [{ kind: 'thinking', text: it, seal: markedSeal(wire, sealOf(wire, it)) }]),
  )
/** That of Responses is the item's id and what is sealed in it. */
const sealOf = (wire: WireName, it: string) =>
  `${wire === 'openai-responses' ? 'rs_1 ' : ''}${Buffer.from(it).toString('base64')}`

interface Round {
  readonly asked: readonly Part[]
  readonly thought: readonly Part[]
  readonly said: readonly TextPart[]
  readonly calls: readonly { readonly name: string; readonly input: JsonObject; readonly result: ResultWords }[]
}
interface ResultWords {
  readonly texts: readonly TextPart[]
  readonly images: readonly ImagePart[]
  readonly isError: boolean
}

const asked = fc.array(fc.oneof({ weight: 3, arbitrary: text }, image), { minLength: 1, maxLength: 3 })
const result = fc.record({
  texts: fc.array(text, { minLength: 1, maxLength: 2 }),
  images: fc.array(image, { maxLength: 1 }),
  isError: fc.boolean(),
})
const round = (wire: WireName): fc.Arbitrary<Round> =>
  fc.record({
    asked,
    thought: thought(wire),
    said: fc.array(text, { maxLength: 1 }),
    calls: fc.array(fc.record({ name, input, result }), { maxLength: 3 }),
  })

/** Calls are answered in the message that follows them, in their order, with the next prompt behind the results. */
function conversation(rounds: readonly Round[]): Message[] {
  const messages: Message[] = []
  let open: Part[] = []
  let count = 0
  for (const { asked, thought, said, calls } of rounds) {
    messages.push({ role: 'user', parts: [...open, ...asked] })
    const made = calls.map((call) => ({ ...call, id: `call_${++count}` }))
    const spoken = said.length === 0 && made.length === 0 ? [{ kind: 'text', text: 'Yes.' } as const] : said
    const parts = made.map(({ id, name, input }) => ({ kind: 'tool_call', id, name, input }) as const)
    messages.push({ role: 'assistant', parts: [...thought, ...spoken, ...parts] })
    open = made.map(({ id, name, result: { texts, images, isError } }) => {
      return { kind: 'tool_result', callId: id, name, parts: [...texts, ...images], isError } as const
    })
  }
  return open.length > 0 ? [...messages, { role: 'user', parts: open }] : messages
}

/** Thoughts carry seals of this format. */
export const request = (wire: WireName): fc.Arbitrary<ModelRequest> =>
  fc
    .record({
      system: fc.array(text, { maxLength: 1 }),
      rounds: fc.array(round(wire), { minLength: 1, maxLength: 3 }),
      tools: fc.uniqueArray(tool, { minLength: 1, maxLength: 3, selector: (it) => it.name }),
      choice: fc.constantFrom('auto', 'any', 'none', 'named'),
      parallelTools: fc.boolean(),
      maxOutputTokens: fc.integer({ min: 40_000, max: 64_000 }),
      temperature: fc.option(fc.constantFrom(0, 0.25, 1), { nil: undefined }),
      stop: fc.array(words, { maxLength: 2 }),
      effort: fc.option(fc.constantFrom('low', 'medium', 'high'), { nil: undefined }),
      outputSchema: fc.option(schema, { nil: undefined }),
      streams: fc.boolean(),
    })
    .map(({ rounds, choice, effort, outputSchema, temperature, ...rest }) => ({
      ...rest,
      model: 'asked-for',
      messages: conversation(rounds),
      toolChoice: choice === 'named' ? { name: rest.tools[0]!.name } : choice,
      ...(temperature === undefined ? {} : { temperature }),
      ...(effort === undefined ? {} : { thinking: { effort } }),
      ...(outputSchema === undefined ? {} : { outputSchema: { name: 'answer', schema: outputSchema } }),
    }))

export const usage: fc.Arbitrary<ModelUsage> = fc
  .tuple(fc.nat(9_999), fc.nat(9_999), fc.nat(9_999), fc.integer({ min: 1, max: 9_999 }), fc.nat(9_999))
  .map(([inputTokens, cacheReadTokens, cacheWriteTokens, spoken, reasoningTokens]) => ({
    ...{ inputTokens, cacheReadTokens, cacheWriteTokens, reasoningTokens },
    outputTokens: spoken + reasoningTokens,
  }))

/** An answer as it comes: words in pieces, calls side by side with their inputs in pieces that are mixed. */
export const events = (wire: WireName): fc.Arbitrary<ModelEvent[]> =>
  fc
    .record({
      thoughts: fc.array(words, { maxLength: 3 }),
      texts: fc.array(words, { maxLength: 4 }),
      calls: fc.array(fc.record({ name, input, size: fc.integer({ min: 1, max: 9 }) }), { maxLength: 3 }),
      isMixed: fc.boolean(),
      usage,
      usageIsFirst: fc.boolean(),
      reason: fc.constantFrom<EndReason>('end', 'max_tokens', 'stop_sequence', 'refused'),
    })
    .map(({ thoughts, texts, calls, isMixed, usage, usageIsFirst, reason }) => {
      const seal =
        thoughts.length === 0 ? [] : [{ type: 'thinking_seal', seal: markedSeal(wire, sealOf(wire, thoughts.join(''))) } as const]
      const told = { type: 'usage', usage } as const
      const pieces = calls.map(({ input, size }, index) =>
        inPieces(JSON.stringify(input), size).map((json) => ({ type: 'tool_input', index, json }) as const),
      )
      const begun = calls.map(({ name }, index) => ({ type: 'tool_call', index, id: `call_${index + 1}`, name }) as const)
      const called = isMixed
        ? [...begun, ...mixed(pieces)]
        : begun.flatMap((call, index): ModelEvent[] => [call, ...(pieces[index] ?? [])])
      return [
        { type: 'start', id: 'answer-1', model: 'asked-for' },
        ...(usageIsFirst ? [told] : []),
        ...thoughts.map((it) => ({ type: 'thinking', text: it }) as const),
        ...seal,
        ...texts.map((it) => ({ type: 'text', text: it }) as const),
        ...called,
        ...(usageIsFirst ? [] : [told]),
        { type: 'end', reason: calls.length > 0 ? 'tool_calls' : reason },
      ]
    })

/** JSON that uses a format's own words in wrong places: those of a well-formed body, with any part of it replaced by anything. */
export const damaged = (body: JsonObject): fc.Arbitrary<JsonObject> => {
  const places = placesIn(body)
  return fc
    .array(fc.tuple(fc.nat(Math.max(0, places.length - 1)), fc.jsonValue({ maxDepth: 2 })), { minLength: 1, maxLength: 3 })
    .map((changes) => {
      const copy = structuredClone(body)
      for (const [at, value] of changes) replace(copy, places[at] ?? [], value)
      return copy
    })
}

type Place = readonly (string | number)[]

function placesIn(value: unknown, here: Place = []): Place[] {
  if (typeof value !== 'object' || value === null) return []
  return Object.entries(value).flatMap(([key, inner]) => [[...here, key], ...placesIn(inner, [...here, key])])
}

function replace(target: unknown, place: Place, value: unknown): void {
  const [first, ...rest] = place
  if (typeof target !== 'object' || target === null || first === undefined) return
  const record = target as Record<string, unknown>
  if (rest.length === 0) record[first] = value
  else replace(record[first], rest, value)
}

const inPieces = (json: string, size: number) =>
  Array.from({ length: Math.ceil(json.length / size) }, (_, index) => json.slice(index * size, (index + 1) * size))

/** One of each in turn. */
function mixed<T>(lists: readonly (readonly T[])[]): T[] {
  const longest = Math.max(0, ...lists.map((list) => list.length))
  return Array.from({ length: longest }, (_, at) => lists.flatMap((list) => list.slice(at, at + 1))).flat()
}
