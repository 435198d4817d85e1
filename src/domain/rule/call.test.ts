import { expect, test } from 'vitest'
import { parseCall } from './call.ts'

test('a call is written as a rule is, or as JSON', () => {
  expect(parseCall('Bash(git push (now))')).toEqual({ tool: 'Bash', input: { command: 'git push (now)' } })
  expect(parseCall('mcp__pawl__Write(a/b)')).toEqual({ tool: 'mcp__pawl__Write', input: { file_path: 'a/b' } })
  expect(parseCall('WebFetch(example.com)')).toEqual({ tool: 'WebFetch', input: { url: 'https://example.com' } })
  expect(parseCall('LS')).toEqual({ tool: 'LS', input: {} })
  expect(parseCall('mcp__x__y({"a":1})')).toEqual({ tool: 'mcp__x__y', input: { a: 1 } })
  expect(parseCall('{"tool":"Bash","input":{"command":"ls"}}')).toEqual({ tool: 'Bash', input: { command: 'ls' } })
  expect(parseCall('{"tool":"LS"}')).toEqual({ tool: 'LS', input: {} })
})

test.for([
  '',
  'Bash(',
  'rm -rf /',
  '{',
  '{"tool":1}',
  '{"tool":"x","input":[]}',
  '{"tool":"x","other":1}',
  'mcp__x__y(text)',
  '[]',
])('%j is no call', (written) => {
  expect(() => parseCall(written)).toThrow(/no call|must be written|JSON/)
})
