import fc from 'fast-check'
import { expect, test } from 'vitest'
import type { Message } from './history.ts'
import { cutText, fitInto } from './window.ts'

const words = fc.integer({ min: 0, max: 6_000 }).map((length) => 'word '.repeat(length / 5))
const exchange = fc.record({ asked: words, said: words, outputs: fc.array(words, { maxLength: 3 }) })

/** A conversation as the loop writes it: each answer with calls is followed by what they brought. */
const conversation = fc.array(exchange, { minLength: 1, maxLength: 12 }).map((exchanges) =>
  exchanges.flatMap(({ asked, said, outputs }, turn): Message[] => {
    const calls = outputs.map((_, index) => ({ id: `${turn}-${index}`, name: 'bash', arguments: {} }))
    return [
      { role: 'user', content: `${turn} ${asked}` },
      { role: 'assistant', content: said, thinking: said, calls },
      ...outputs.map((content, index): Message => ({ role: 'tool', content, callId: `${turn}-${index}`, name: 'bash' })),
    ]
  }),
)

test('what is sent fits the window or says that it cannot, and every output follows its call', () => {
  fc.assert(
    fc.property(
      conversation,
      fc.integer({ min: 2_048, max: 32_768 }),
      fc.double({ min: 1, max: 2, noNaN: true }),
      (messages, window, factor) => {
        const fitted = fitInto(messages, { window, fixedTokens: 500, factor })
        if (!fitted.isTooLarge) expect(fitted.tokens).toBeLessThanOrEqual(window)
        expect(fitted.tokensBefore).toBeGreaterThanOrEqual(fitted.tokens - 50)
        const users = fitted.messages.filter(({ role }) => role === 'user')
        expect(users[0]?.content.slice(0, 2)).toBe('0 ')
        expect(users.at(-1)).toEqual(messages.findLast(({ role }) => role === 'user'))
        const called = new Set<string>()
        for (const message of fitted.messages) {
          if (message.role === 'assistant') for (const { id } of message.calls ?? []) called.add(id)
          if (message.role === 'tool') expect(called).toContain(message.callId)
        }
      },
    ),
    { numRuns: 60 },
  )
})

test('what fits is sent as it is, but for old thoughts', () => {
  const messages: Message[] = [
    { role: 'user', content: 'a' },
    { role: 'assistant', content: 'b', thinking: 'old' },
    { role: 'user', content: 'c' },
    { role: 'assistant', content: 'd', thinking: 'new' },
  ]
  const fitted = fitInto(messages, { window: 4_096, fixedTokens: 100, factor: 1 })
  expect(fitted).toMatchObject({ leftOut: 0, shortened: 0, isTooLarge: false })
  expect(fitted.messages).toEqual([messages[0], { role: 'assistant', content: 'b' }, ...messages.slice(2)])
})

test('a text is cut in its middle, and no character is halved', () => {
  expect(cutText('short', 10)).toBe('short')
  const cut = cutText('😀'.repeat(100), 21)
  expect(cut.isWellFormed()).toBe(true)
  expect(cut).toContain('characters left out')
})
