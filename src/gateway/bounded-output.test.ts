import { expect, test } from 'vitest'
import { boundOutput, leastOutput } from './bounded-output.ts'

const bounded = (text: string, wire: Parameters<typeof boundOutput>[1]) => boundOutput(Buffer.from(text), wire, 9_000).toString()

test('a bound is put where the format has it, and nothing else is touched', () => {
  expect(bounded('{ "max_tokens" : 128000, "x": [1, 2.50] }', 'anthropic')).toBe('{ "max_tokens" : 9000, "x": [1, 2.50] }')
  expect(bounded('{"model":"m","max_completion_tokens":1e5}', 'openai-chat')).toBe('{"model":"m","max_completion_tokens":9000}')
  expect(bounded('{"max_output_tokens":64000}', 'openai-responses')).toBe('{"max_output_tokens":9000}')
  expect(bounded('{"model":"m"}', 'openai-responses')).toBe('{"max_output_tokens":9000,"model":"m"}')
  expect(bounded('{"model":"m","max_output_tokens":null}', 'openai-responses')).toBe('{"model":"m","max_output_tokens":9000}')
})

test('only a request whose answer can be bounded, and that leaves room for what is thought, may be', () => {
  expect(leastOutput('anthropic', { max_tokens: 128_000 })).toBe(8_192)
  expect(leastOutput('anthropic', { max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: 31_999 } })).toBe(36_095)
  expect(leastOutput('openai-chat', { max_tokens: 50_000 })).toBe(8_192)
  expect(leastOutput('openai-chat', {})).toBeUndefined()
  expect(leastOutput('openai-chat', { max_tokens: 50_000, n: 2 })).toBeUndefined()
  expect(leastOutput('openai-responses', {})).toBe(8_192)
  expect(leastOutput('gemini', { generationConfig: { maxOutputTokens: 50_000 } })).toBeUndefined()
  expect(leastOutput('ollama', {})).toBeUndefined()
})
