import { afterEach, beforeEach, describe, expect, it, vi } from 'vitest'
import { type Growing, grownBy, isEndedBy, pieceOf } from '../../domain/event/live-text.ts'
import { createRedactor } from '../../redact/redactor.ts'
import { createGrowths } from './live-text.ts'

beforeEach(() => void vi.useFakeTimers())
afterEach(() => void vi.useRealTimers())

function begin() {
  const redactor = createRedactor()
  redactor.add('TOKEN', 'correct-horse-battery')
  const growths = createGrowths({ redactor })
  const growth = growths.begin('t_1', 'r_1')
  const told: (Growing | undefined)[] = []
  const watch = () => growths.watch('t_1', (growing) => told.push(growing))
  return { growths, growth, told, watch, texts: () => told.map((growing) => growing?.text) }
}
const soon = () => vi.advanceTimersByTime(100)

describe('what an agent is saying', () => {
  it('is told at most ten times a second, in whole words, and its end is told', () => {
    const { growth, watch, texts } = begin()
    watch()
    for (const piece of ['All ', 'is ', 'we', 'll ', 'to', 'day']) growth.add('message', piece)
    soon()
    for (const piece of ['. ', 'Bye']) growth.add('message', piece)
    soon()
    growth.whole()
    soon()
    soon()
    expect(texts()).toEqual(['All is well ', 'All is well today. ', undefined])
  })

  it('is told to whoever comes late from its beginning, and to nobody after the run', () => {
    const { growth, watch, texts } = begin()
    growth.add('message', 'One two three ')
    watch()
    expect(texts()).toEqual(['One two three '])
    growth.end()
    watch()
    expect(texts()).toEqual(['One two three '])
  })

  it('is another one when thoughts turn into words', () => {
    const { growth, watch, told } = begin()
    watch()
    growth.add('thinking', 'Let me see. ')
    soon()
    growth.add('message', 'It is done. ')
    soon()
    expect(told).toEqual([
      { run: 'r_1', n: 0, kind: 'thinking', text: 'Let me see. ' },
      { run: 'r_1', n: 1, kind: 'message', text: 'It is done. ' },
    ])
  })

  it.each([
    ['a secret it was told, in two pieces', ['The token is correct-hor', 'se-battery, keep it. '], '[redacted:TOKEN]'],
    ['a key by its looks', ['Use sk-ant-0123456', '789abcdefghijklmnop now '], '[redacted:api key]'],
    ['a header', ['Authorization: ', 'Bearer ', 'abcdefgh1', '2345678 and so on '], '[redacted:authorization]'],
    [
      'a private key',
      ['-----BEGIN PRIVATE KEY-----\nMIIEvQIBADANBg', 'kqhkiG9w0BAQEF\n', 'AASC\n-----END PRIVATE KEY-----\n and '],
      '[redacted:private key]',
    ],
  ])('never shows a part of %s', (_, pieces, mark) => {
    const { growth, watch, texts } = begin()
    watch()
    for (const piece of pieces)
      for (const sign of piece) {
        growth.add('message', sign)
        soon()
      }
    expect(texts().at(-1)).toContain(mark)
    for (const text of texts()) expect(text ?? '').not.toMatch(/correct-|sk-|abcdefgh|MIIE/)
  })

  it('takes no more memory than a long message, and costs nobody who does not watch', () => {
    const { growth, told, watch } = begin()
    for (let n = 0; n < 100_000; n++) growth.add('message', 'word ')
    expect(vi.getTimerCount()).toBe(0)
    watch()
    expect(told[0]?.text.length).toBeLessThanOrEqual(65_536)
  })

  it('reaches a reader piece by piece, from whatever it was told before', () => {
    const growing = (n: number, text: string): Growing => ({ run: 'r_1', n, kind: 'message', text })
    const steps = [
      growing(0, 'One'),
      growing(0, 'One two'),
      growing(0, 'One [x]'),
      undefined,
      growing(1, 'Two'),
      growing(2, 'Three'),
    ]
    let sent: Growing | undefined
    let heard: Growing | undefined
    for (const step of steps) {
      const piece = pieceOf(sent, step)
      if (piece) heard = grownBy(heard, piece)
      sent = step
      expect(heard).toEqual(step)
    }
    expect(pieceOf(sent, sent)).toBeUndefined()
    expect(grownBy(undefined, { ...growing(3, 'of what?'), at: 7 })).toBeUndefined()
    const event = (text: string) => ({ seq: 1, at: '', task: 't_1', run: 'r_1', type: 'agent.message', data: { text } }) as const
    expect(isEndedBy(growing(0, 'One two '), event('One two three'))).toBe(true)
    expect(isEndedBy(growing(0, 'Two'), event('One two three'))).toBe(false)
  })
})
