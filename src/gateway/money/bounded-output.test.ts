import { expect, test } from 'vitest'
import type { ModelRequest } from '../wires/model-request.ts'
import { boundOutput, boundRequest, leastOutput } from './bounded-output.ts'

const bounded = (text: string, wire: Parameters<typeof boundOutput>[1], model = 'm') =>
  boundOutput(Buffer.from(text), wire, 9_000, model).toString()

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

test('what may be thought is bounded with the answer, and something is left to say', () => {
  const thinking = (budget: number) => `{"max_tokens":64000,"thinking":{"type":"enabled", "budget_tokens":${budget}},"x":1}`
  expect(bounded(thinking(31_999), 'anthropic')).toBe(thinking(6_952).replace('64000', '9000'))
  expect(bounded(thinking(2_000), 'anthropic')).toBe(thinking(2_000).replace('64000', '9000'))
  expect(bounded('{"thinking":{"type":"adaptive"},"max_tokens":64000}', 'anthropic')).toBe(
    '{"thinking":{"type":"adaptive"},"max_tokens":9000}',
  )
  expect(bounded('{"thinking":{"budget_tokens":31999}}', 'anthropic')).toBe(
    '{"max_tokens":9000,"thinking":{"budget_tokens":6952}}',
  )
  const gemini = (budget: number, most: string) =>
    `{"generationConfig":{${most}"thinkingConfig":{"includeThoughts":true,"thinkingBudget":${budget}}}}`
  expect(bounded(gemini(24_576, ''), 'gemini')).toBe(gemini(6_952, '"maxOutputTokens":9000,'))
  expect(bounded(gemini(-1, '"maxOutputTokens":65536,'), 'gemini')).toBe(gemini(6_952, '"maxOutputTokens":9000,'))
  expect(bounded(gemini(0, '"maxOutputTokens":65536,'), 'gemini')).toBe(gemini(0, '"maxOutputTokens":9000,'))
})

test('a chat request that names no bound gets one by the name that its server knows', () => {
  expect(bounded('{"model":"m"}', 'openai-chat', 'qwen3-coder')).toBe('{"max_tokens":9000,"model":"m"}')
  for (const model of ['gpt-5.1', 'openai/gpt-5-mini', 'o3'])
    expect(bounded('{"model":"m"}', 'openai-chat', model)).toBe('{"max_completion_tokens":9000,"model":"m"}')
})

test('a request that is written anew asks for less thinking as well', () => {
  const request = (thinking?: ModelRequest['thinking']) => boundRequest({ thinking } as ModelRequest, 9_000)
  expect(request()).toMatchObject({ maxOutputTokens: 9_000, thinking: undefined })
  expect(request({ budgetTokens: 31_999 }).thinking).toEqual({ budgetTokens: 6_952 })
  expect(request({ budgetTokens: 2_000 }).thinking).toEqual({ budgetTokens: 2_000 })
  expect(request({ effort: 'high' }).thinking).toEqual({ effort: 'high', budgetTokens: 6_952 })
  expect(request({ effort: 'low' }).thinking).toEqual({ effort: 'low' })
})

test('only a request for one answer may be bounded, however much it may think', () => {
  expect(leastOutput('anthropic', { max_tokens: 128_000 })).toBe(4_096)
  expect(leastOutput('anthropic', { max_tokens: 64_000, thinking: { type: 'enabled', budget_tokens: 31_999 } })).toBe(4_096)
  expect(leastOutput('openai-chat', { max_tokens: 50_000 })).toBe(4_096)
  expect(leastOutput('openai-chat', {})).toBe(4_096)
  expect(leastOutput('openai-chat', { max_tokens: 50_000, n: 2 })).toBeUndefined()
  expect(leastOutput('openai-responses', {})).toBe(4_096)
  expect(leastOutput('gemini', { generationConfig: { maxOutputTokens: 50_000 } })).toBe(4_096)
  expect(leastOutput('gemini', { generationConfig: { thinkingConfig: { thinkingBudget: 24_576 } } })).toBe(4_096)
  expect(leastOutput('gemini', { generationConfig: { candidateCount: 2 } })).toBeUndefined()
  expect(leastOutput('ollama', {})).toBe(4_096)
})
