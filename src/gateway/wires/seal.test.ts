import { expect, test } from 'vitest'
import { createForeignSeals } from '../provider/foreign-seals.ts'
import { markedSeal, sealForClient, sealForProvider } from './seal.ts'

test('a client of the same format gets the provider’s own words, and they go back to it alone', () => {
  const seal = markedSeal('anthropic', 'EqoB')
  expect(sealForClient('anthropic', seal)).toBe('EqoB')
  expect(sealForProvider('anthropic', seal)).toBe('EqoB')
  expect(sealForProvider('gemini', seal)).toBeUndefined()
})

test('a client of another format brings back a seal that it cannot read, and it is the same', () => {
  const seal = markedSeal('openai-responses', 'rs_1 gAAAAB')
  const carried = sealForClient('anthropic', seal)
  expect(carried).toMatch(/^[A-Za-z0-9+/]+=*$/)
  expect(markedSeal('anthropic', carried)).toBe(seal)
  expect(sealForProvider('anthropic', markedSeal('anthropic', carried))).toBeUndefined()
})

test('when a conversation goes on at another provider, thoughts that it has not sealed are left out and nothing else', () => {
  const foreign = sealForClient('anthropic', markedSeal('gemini', 'c2VhbA=='))
  const body = {
    messages: [
      { role: 'user', content: `What does ${foreign} mean?` },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Hm.', signature: foreign },
          { type: 'thinking', thinking: 'Own.', signature: 'EqoB' },
          { type: 'text', text: foreign },
          { type: 'tool_use', id: 'a', name: 'b', input: {} },
        ],
      },
    ],
    input: [{ type: 'reasoning', summary: [], encrypted_content: foreign }, { type: 'message' }],
    contents: [{ parts: [{ functionCall: { name: 'b' }, thoughtSignature: foreign }] }],
  }
  const bytes = Buffer.from(JSON.stringify(body))
  expect(JSON.parse(createForeignSeals().without('a', bytes, body).toString())).toEqual({
    messages: [
      { role: 'user', content: `What does ${foreign} mean?` },
      {
        role: 'assistant',
        content: [
          { type: 'thinking', thinking: 'Own.', signature: 'EqoB' },
          { type: 'text', text: foreign },
          { type: 'tool_use', id: 'a', name: 'b', input: {} },
        ],
      },
    ],
    input: [{ type: 'message' }],
    contents: [{ parts: [{ functionCall: { name: 'b' } }] }],
  })
})
