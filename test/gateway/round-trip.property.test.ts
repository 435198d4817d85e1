import fc from 'fast-check'
import { describe, expect, it } from 'vitest'
import { PawlError } from '../../src/domain/error.ts'
import { wires } from '../../src/gateway/wires/index.ts'
import { type ModelAnswer, refusalKinds } from '../../src/gateway/wires/model-event.ts'
import type { ModelRequest } from '../../src/gateway/wires/model-request.ts'
import type { Asked, Wire, WireName } from '../../src/gateway/wires/wire.ts'
import { damaged, events, request, usage } from './model-arbitraries.ts'
import { bare, bytesOf, essence, folded, framesOf, sayable, streamed, thrownBy, told, totals, usageIn } from './what-is-kept.ts'

const all = Object.values(wires)
const pairs = all.flatMap((from) => all.map((to) => ({ from, to })))
/** A model of its own for each, so that nothing is left out that older ones cannot take. */
const targets: Record<WireName, string> = {
  anthropic: 'claude-opus-4-6',
  'openai-responses': 'gpt-5',
  'openai-chat': 'other-maker',
  gemini: 'gemini-3-pro',
  ollama: 'gpt-oss:20b',
}
const runs = { numRuns: 80 }

/** Through the bytes of a request, as a client sends it. */
function sent(wire: Wire, written: ModelRequest): ModelRequest {
  const { path, body } = wire.writeRequest(written, targets[wire.name])
  // Providers' base addresses have the version where a client's path has it.
  const bare = path.split('?')[0]!
  const asked = wire.asked('POST', bare) ?? wire.asked('POST', `/v1${bare}`)
  return wire.readRequest(JSON.parse(JSON.stringify(body)), asked as Asked)
}

describe.each(all)('the format $name', (wire) => {
  it('reads back the request that it has written, within what it can say', () => {
    fc.assert(
      fc.property(request(wire.name), (given) => {
        expect(essence(sent(wire, given))).toEqual(essence(given))
        expect(sayable(wire, sent(wire, given))).toEqual(sayable(wire, { ...given, model: targets[wire.name] }))
      }),
      runs,
    )
  })

  it('reads back the stream that it has written, wherever it is cut', () => {
    fc.assert(
      fc.property(
        request(wire.name),
        events(wire.name),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (asked, given, cuts) => {
          const read = streamed(wire, asked, given, cuts)
          expect(told(wire, folded(read))).toEqual(told(wire, folded(given)))
        },
      ),
      runs,
    )
  })

  it('reads back the whole answer that it has written', () => {
    fc.assert(
      fc.property(request(wire.name), events(wire.name), (asked, given) => {
        const answer = folded(given)
        const read = wire.readWhole(JSON.parse(JSON.stringify(wire.answerWhole(answer, asked))))
        expect(told(wire, read)).toEqual(told(wire, answer))
      }),
      runs,
    )
  })

  it('meters a passing stream to the token, and knows that it is whole', () => {
    fc.assert(
      fc.property(request(wire.name), events(wire.name), (asked, given) => {
        const meter = wire.usageReader()
        for (const frame of framesOf(wire, bytesOf(wire, asked, given), [])) meter.frame(frame)
        expect(meter.hasEnded).toBe(true)
        expect(meter.usage).toEqual(usageIn(wire.name, folded(given).usage!))
      }),
      runs,
    )
  })

  it('refuses a damaged request in words, or takes it; nothing else is thrown', () => {
    fc.assert(
      fc.property(
        request(wire.name).chain((given) => damaged(wire.writeRequest(given, targets[wire.name]).body)),
        (body) => {
          const asked = { kind: 'generate', model: 'm', streams: true } as const
          for (const read of [() => wire.readRequest(body, asked), () => wire.head(body, asked)]) {
            const thrown = thrownBy(read)
            if (thrown !== undefined) expect(thrown).toBeInstanceOf(PawlError)
          }
        },
      ),
      runs,
    )
  })

  it('reads a damaged answer as far as it goes', () => {
    fc.assert(
      fc.property(
        fc
          .tuple(request(wire.name), events(wire.name))
          .chain(([asked, given]) => damaged(wire.answerWhole(folded(given), asked))),
        (body) => {
          const meter = wire.usageReader()
          const frame = { data: JSON.stringify(body) }
          for (const read of [
            () => wire.readWhole(body),
            () => wire.answerReader().read(frame),
            () => meter.frame(frame),
            () => meter.whole(body),
            () => wire.refused({ status: 400, headers: {}, text: frame.data }, new Date(0)),
          ])
            expect(thrownBy(read)).toBeUndefined()
        },
      ),
      runs,
    )
  })

  it('reads a damaged stream as far as it goes', () => {
    fc.assert(
      fc.property(request(wire.name), events(wire.name), fc.nat(), fc.jsonValue({ maxDepth: 3 }), (asked, given, at, value) => {
        const frames = framesOf(wire, bytesOf(wire, asked, given), [])
        const reader = wire.answerReader()
        const meter = wire.usageReader()
        const changed = frames.map((frame, index) =>
          index === at % frames.length ? { ...frame, data: JSON.stringify(value) } : frame,
        )
        expect(thrownBy(() => changed.flatMap((frame) => reader.read(frame)))).toBeUndefined()
        expect(thrownBy(() => reader.end())).toBeUndefined()
        for (const frame of changed) expect(thrownBy(() => meter.frame(frame))).toBeUndefined()
      }),
      runs,
    )
  })

  it('understands its own refusals', () => {
    const now = new Date('2026-03-01T00:00:00Z')
    const retryAt = new Date(now.getTime() + 90_000)
    for (const kind of refusalKinds) {
      const { status, headers, body } = wire.refusal({ kind, message: 'Not now.', retryAt }, now)
      const read = wire.refused({ status, headers, text: JSON.stringify(body) }, now)
      // What is over budget is said as something that nobody tries again.
      const retried = ['rate_limited', 'overloaded', 'unavailable', 'timed_out']
      if (kind === 'over_budget') expect(retried).not.toContain(read.kind)
      else expect(read.kind).toBe(kind)
      expect(read.message).toContain('Not now.')
    }
  })
})

describe.each(pairs)('from $from.name to $to.name', ({ from, to }) => {
  it('a request keeps its texts, calls, results and images in their order', () => {
    fc.assert(
      fc.property(request(from.name), (given) => {
        expect(essence(sent(to, sent(from, given)))).toEqual(essence(given))
      }),
      { numRuns: 30 },
    )
  })

  it('a stream keeps its words, calls and tokens', () => {
    fc.assert(
      fc.property(
        request(to.name),
        events(from.name),
        fc.array(fc.double({ min: 0, max: 1, noNaN: true })),
        (asked, given, cuts) => {
          const once = streamed(from, asked, given, cuts)
          const twice = folded(streamed(to, asked, once, cuts))
          const first = folded(given)
          const heard = (answer: ModelAnswer) =>
            answer.parts.filter((part) => part.kind === 'text' || part.kind === 'tool_call').map(bare)
          expect(heard(twice)).toEqual(heard(first))
          expect(totals(twice.usage!)).toEqual(totals(first.usage!))
        },
      ),
      { numRuns: 30 },
    )
  })

  it('a thought goes through a client of the other format with its seal, and comes back to its provider', () => {
    // Ollama has no seals, neither given nor kept.
    const kept = from.name !== 'ollama' && to.name !== 'ollama'
    fc.assert(
      fc.property(request(to.name), events(from.name), (asked, given) => {
        const answer = folded(given)
        const back = to.readWhole(JSON.parse(JSON.stringify(to.answerWhole(answer, asked))))
        const seals = ({ parts }: ModelAnswer) =>
          parts.flatMap((part) => (part.kind === 'thinking' && part.seal !== undefined ? [part.seal] : []))
        if (kept) expect(seals(back)).toEqual(seals(answer))
        else if (to.name === 'ollama') expect(seals(back)).toEqual([])
      }),
      { numRuns: 30 },
    )
  })
})

it('adds up usage the same in every format', () => {
  fc.assert(
    fc.property(usage, (given) => {
      for (const wire of all) expect(totals(usageIn(wire.name, given))).toEqual(totals(given))
    }),
  )
})
