import { expect, test } from 'vitest'
import type { WireName } from '../wires/wire.ts'
import { serverToolsOf, withoutServerTools } from './server-tools.ts'

const left = (wire: WireName, body: object) => {
  const text = JSON.stringify(body)
  return withoutServerTools(wire, Buffer.from(text), JSON.parse(text)).toString()
}
const own = { type: 'function', name: 'mine' }

test('tools that only the provider runs are taken out where they are offered beside others, and nothing else is touched', () => {
  expect(left('openai-responses', { model: 'm', tools: [own, { type: 'web_search', external_web_access: false }], n: 1 })).toBe(
    JSON.stringify({ model: 'm', tools: [own], n: 1 }),
  )
  const declared = { functionDeclarations: [{ name: 'mine' }] }
  expect(left('gemini', { contents: [], tools: [{ ...declared, googleSearch: {} }, { urlContext: {} }] })).toBe(
    JSON.stringify({ contents: [], tools: [declared] }),
  )
  const theirs = { type: 'web_fetch_20250910', name: 'web_fetch' }
  const custom = { name: 'mine', input_schema: {} }
  expect(left('anthropic', { tools: [theirs, custom, { type: 'bash_20250124', name: 'bash' }] })).toBe(
    JSON.stringify({ tools: [custom, { type: 'bash_20250124', name: 'bash' }] }),
  )
  const untouched = { model: 'm', tools: [own], messages: [{ role: 'user', content: 'see https://example.com' }] }
  const bytes = Buffer.from(JSON.stringify(untouched))
  expect(withoutServerTools('openai-chat', bytes, untouched)).toBe(bytes)
})

const data = 'data:image/png;base64,AAAA'
test.each<[string, WireName, object, RegExp]>([
  ['a search alone', 'anthropic', { tools: [{ type: 'web_search_20250305', name: 'web_search' }] }, /use "web_search"/],
  [
    'a forced one',
    'openai-responses',
    { tools: [own, { type: 'web_search' }], tool_choice: { type: 'web_search' } },
    /web_search/,
  ],
  ['a search beside the tools', 'openai-chat', { tools: [own], web_search_options: {} }, /web_search_options/],
  ['servers of others', 'anthropic', { tools: [{ name: 'a' }], mcp_servers: [{ url: 'https://x.example' }] }, /mcp_servers/],
  ['code', 'gemini', { tools: [{ codeExecution: {} }] }, /codeExecution/],
  [
    'an image by its address',
    'anthropic',
    { messages: [{ content: [{ type: 'image', source: { type: 'url', url: 'https://evil.example/?secret' } }] }] },
    /have "https:\/\/evil\.example" fetched/,
  ],
  [
    'an image in a result',
    'anthropic',
    { messages: [{ content: [{ type: 'tool_result', content: [{ type: 'image', source: { url: 'http://e.example/' } }] }] }] },
    /e\.example/,
  ],
  ['an image', 'openai-chat', { messages: [{ content: [{ type: 'image_url', image_url: { url: 'https://a.b/c' } }] }] }, /a\.b/],
  ['a file', 'openai-responses', { input: [{ content: [{ type: 'input_file', file_url: 'https://a.b/c.pdf' }] }] }, /a\.b/],
  ['a file of Google', 'gemini', { contents: [{ parts: [{ fileData: { fileUri: 'https://youtu.be/x' } }] }] }, /youtu/],
])('a request that is about what only the provider can do is refused: %s', (_, wire, body, said) => {
  expect(() => left(wire, body)).toThrow(said)
  expect(() => left(wire, body)).toThrow('"serverTools: true"')
})

test('what a request holds itself, and what a tool was called with, goes on', () => {
  const parts = [
    { type: 'image_url', image_url: { url: data } },
    { type: 'tool_use', input: { type: 'image', source: { url: 'https://a.example' } } },
  ]
  const body = { messages: [{ content: parts }] }
  expect(left('openai-chat', body)).toBe(JSON.stringify(body))
})

test('what searches may cost is known before they are made', () => {
  const search = { type: 'web_search_20250305', name: 'web_search' }
  expect(serverToolsOf('anthropic', { tools: [{ ...search, max_uses: 8 }] }).pieces).toEqual({ web_search_requests: 8 })
  expect(serverToolsOf('openai-responses', { tools: [{ type: 'web_search' }] }).pieces).toEqual({ web_search_requests: 10 })
  expect(serverToolsOf('gemini', { tools: [{ googleSearch: {} }] }).pieces).toEqual({ grounded_prompts: 1 })
  expect(serverToolsOf('anthropic', { tools: [{ name: 'mine' }] })).toEqual({ names: [], pieces: {} })
})
