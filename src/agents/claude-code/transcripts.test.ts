import { readdirSync, readFileSync } from 'node:fs'
import { join } from 'node:path'
import fc from 'fast-check'
import { describe, expect, test } from 'vitest'
import { eventData } from '../../domain/event/event.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { Verdict } from '../port.ts'
import { hear } from './hearing.ts'
import { createCostMeter } from './result.ts'
import { createToolPipe } from './tools.ts'
import { translate } from './translate.ts'
import { judgeResult } from './verdict.ts'

const folder = join(import.meta.dirname, 'transcripts')
const cases = readdirSync(folder)
  .filter((file) => file.endsWith('.jsonl') && !file.endsWith('.expected.jsonl'))
  .map((file) => file.slice(0, -'.jsonl'.length))
const linesOf = (name: string) =>
  readFileSync(join(folder, `${name}.jsonl`), 'utf8')
    .trimEnd()
    .split('\n')
const now = new Date('2026-11-15T12:00:00Z')

describe('what the real program printed', () => {
  test.each(cases)('%s', async (name) => {
    const told = await replay(linesOf(name), { isResumed: name.includes('resume') })
    const text = told.map((one) => `${JSON.stringify(one)}\n`).join('')
    await expect(text).toMatchFileSnapshot(join(folder, `${name}.expected.jsonl`))
  })
})

test.each(cases)('what is told call by call is in the end what the result says: %s', async (name) => {
  let sum = noUsage
  for (const one of await replay(linesOf(name))) {
    if ('type' in one && one.type === 'agent.usage')
      sum = addUsage(sum, (one as unknown as { data: { usage: Usage } }).data.usage)
    if (!('verdict' in one)) continue
    const { usage = noUsage } = one.verdict as Verdict
    expect({ ...sum, turns: 0 }).toEqual({ ...usage, turns: 0 })
    sum = noUsage
  }
})

describe('a program of another version', () => {
  test.each(cases)('may add fields anywhere: %s', async (name) => {
    const grown = linesOf(name).map((line) => JSON.stringify(withNews(JSON.parse(line))))
    expect(await replay(grown)).toEqual(await replay(linesOf(name)))
  })

  test.each(cases)('may print lines that nobody knows yet: %s', async (name) => {
    const news = ['{"type":"dream","text":"sheep"}', '{"type":"system","subtype":"dreamt"}', 'a warning in plain text']
    const told = await replay(linesOf(name).flatMap((line) => [...news, line]))
    const isNews = (one: object) => 'type' in one && one.type === 'agent.unknown'
    expect(told.filter((one) => !isNews(one))).toEqual(await replay(linesOf(name)))
    expect(told.filter(isNews).length).toBeGreaterThan(0)
  })

  test('may name a kind of line by something that is no text and cannot become one', () => {
    for (const line of [{ type: { toString: '' } }, { type: 'system', subtype: { toString: '' } }])
      expect(translate({ text: JSON.stringify(line), truncatedBytes: 0 })).toEqual({ events: [], isUnknown: true })
  })

  test('may change the type of any field: nothing throws, and every event can be stored', () => {
    const lines = cases.flatMap(linesOf)
    fc.assert(
      fc.property(fc.nat(lines.length - 1), fc.nat(), fc.jsonValue(), (index, at, value) => {
        const { events } = translate({
          text: JSON.stringify(changed(JSON.parse(lines[index] ?? ''), at, value)),
          truncatedBytes: 0,
        })
        for (const event of events) eventData[event.type].parse(event.data)
      }),
      { numRuns: 2000 },
    )
  })
})

/** Everything that would be recorded, asked and sent, in order. */
async function replay(lines: readonly string[], { isResumed = false } = {}): Promise<object[]> {
  const told: object[] = []
  const cost = createCostMeter({ isResumed })
  const begin = () =>
    hear(
      {
        prompt: '',
        signal: new AbortController().signal,
        emit: (event) => void told.push(event),
        async ask(questions) {
          told.push(...questions.map((asked) => ({ asked })))
          return undefined
        },
        permit: async ({ tool, input }) => {
          told.push({ permitted: { tool, input } })
          return { allow: true }
        },
      },
      {
        send: (message) => void told.push({ sent: message }),
        interrupt: () => void told.push({ sent: 'interrupt' }),
        tools: createToolPipe(async (message, { server }) => {
          const { id, method } = message as { id?: unknown; method?: unknown }
          told.push({ exchanged: { server: server ?? 'pawl', method } })
          return { jsonrpc: '2.0', id, result: {} }
        }),
        background: 0,
      },
    )
  let hearing = begin()
  for (const text of lines) {
    await hearing.line({ text, truncatedBytes: 0 })
    // An answer is given beside the reading; here it must have a fixed place.
    await new Promise(setImmediate)
    const result = await Promise.race([hearing.over, undefined])
    if (!result) continue
    await hearing.end()
    const { session, resetsAt, asked, background } = hearing
    const facts = { result, spoken: hearing.spoken(), session, costUsd: cost.costOf(result), asked, resetsAt }
    told.push({ verdict: judgeResult({ ...facts, isReusable: background === 0 }, now) })
    hearing = begin()
  }
  await hearing.end()
  return told
}

/** The same with a new field in every object, but not in what a tool is given or a model's name means something. */
function withNews(value: unknown, key = ''): unknown {
  if (Array.isArray(value)) return value.map((item) => withNews(item, key))
  if (typeof value !== 'object' || value === null || key === 'input' || key.startsWith('model')) return value
  return {
    ...Object.fromEntries(Object.entries(value).map(([name, part]) => [name, withNews(part, name)])),
    brand_new: { x: [1] },
  }
}

/** The same with one field, counted from the outside in, replaced. */
function changed(value: unknown, at: number, by: unknown): unknown {
  const places: { holder: Record<string, unknown>; key: string }[] = []
  const walk = (part: unknown) => {
    if (typeof part !== 'object' || part === null) return
    for (const key of Object.keys(part)) places.push({ holder: part as Record<string, unknown>, key })
    for (const inner of Object.values(part)) walk(inner)
  }
  walk(value)
  const place = places[at % places.length]
  if (place) place.holder[place.key] = by
  return value
}
