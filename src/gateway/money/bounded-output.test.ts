import { expect, test } from 'vitest'
import { boundOutput, leastOutput } from './bounded-output.ts'

const bounded = (text: string, wire: Parameters<typeof boundOutput>[1]) => boundOutput(Buffer.from(text), wire, 9_000).toString()

test('a bound is put where the format has it, and nothing else is touched', () => {
  expect(bounded('{ "max_tokens" : 128000, "x": [1, 2.50] }', 'anthropic')).toBe('{ "max_tokens" : 9000, "x": [1, 2.50] }')
  expect(bounded('{"model":"m","max_completion_tokens":1e5}', 'openai-chat')).toBe('{"model":"m","max_completion_tokens":9000}')
  expect(bounded('{"max_output_tokens":64000}', 'openai-responses')).toBe('{"max_output_tokens":9000}')
  expect(bounded('{"model":"m"}', 'openai-responses')).toBe('{"max_output_tokens":9000,"model":"m"}')
  expect(bounded('{"model":"m","max_output_tokens":null}', 'openai-responses')).toBe('{"model":"m","max_output_tokens":9000}')
  expect(bounded('{"generationConfig":{"maxOutputTokens":65536,"topK":1}}', 'gemini')).toBe(
    '{"generationConfig":{"maxOutputTokens":9000,"topK":1}}',
  )
  expect(bounded('{"generation_config":{"max_output_tokens":65536}}', 'gemini')).toBe(
    '{"generation_config":{"max_output_tokens":9000}}',
  )
  expect(bounded('{"generationConfig":{ }}', 'gemini')).toBe('{"generationConfig":{"maxOutputTokens":9000 }}')
  expect(bounded('{"contents":[]}', 'gemini')).toBe('{"generationConfig":{"maxOutputTokens":9000},"contents":[]}')
  expect(bounded('{"model":"m","options":{"num_predict":-1}}', 'ollama')).toBe('{"model":"m","options":{"num_predict":9000}}')
  expect(bounded('{"model":"m","options":null}', 'ollama')).toBe('{"model":"m","options":{"num_predict":9000}}')
})

test('only a request whose answer can be bounded, and that leaves room for what is thought, may be', () => {
  expect(leastOutput('anthropic', { max_tokens: 128_000 })).toBe(8_192)
  expect(leastOutput('anthropic', { max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: 31_999 } })).toBe(36_095)
  expect(leastOutput('openai-chat', { max_tokens: 50_000 })).toBe(8_192)
  expect(leastOutput('openai-chat', {})).toBeUndefined()
  expect(leastOutput('openai-chat', { max_tokens: 50_000, n: 2 })).toBeUndefined()
  expect(leastOutput('openai-responses', {})).toBe(8_192)
  expect(leastOutput('gemini', { generationConfig: { maxOutputTokens: 50_000 } })).toBe(8_192)
  expect(leastOutput('gemini', { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } })).toBe(28_672)
  expect(leastOutput('gemini', { generationConfig: { candidateCount: 2 } })).toBeUndefined()
  expect(leastOutput('ollama', {})).toBe(8_192)
})
