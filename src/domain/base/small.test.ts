import { expect, test } from 'vitest'
import { harmless } from '../../agents/shared/harmless.ts'
import { createRedactor } from '../../redact/redactor.ts'
import { builtinProfiles } from '../profile/builtin.ts'
import { decide } from '../profile/decide.ts'
import { shellParts } from '../rule/shell.ts'
import { isSmall } from './small.ts'
import { unkeepable } from './unkeepable.ts'

const secret = 'a-secret-that-is-known-0123456789'
const keys = (value: (n: number) => unknown, name = (n: number) => `some_key_${n}`) =>
  JSON.parse(JSON.stringify(Object.fromEntries(Array.from({ length: 200_000 }, (_, n) => [name(n), value(n)])))) as Record<
    string,
    unknown
  >
const deep = JSON.parse(`${'{"a":'.repeat(100_000)}1${'}'.repeat(100_000)}`) as unknown
const inputs: [string, unknown][] = [
  ['200,000 keys', keys((n) => n)],
  ['200,000 keys with a secret in each value', keys(() => secret)],
  [
    '200,000 keys with a secret in each key',
    keys(
      (n) => n,
      (n) => `${secret}${n}`,
    ),
  ],
  ['200,000 items', Array.from({ length: 200_000 }, (_, n) => `item ${n}`)],
  ['200,000 parts of content', Array.from({ length: 200_000 }, (_, n) => ({ type: 'text', text: `part ${n} ${secret}` }))],
  ['100,000 levels', deep],
  ['a million lines', 'a line of output\n'.repeat(1_000_000)],
]
const redactor = createRedactor()
redactor.add('KEY', secret)
const guarded = builtinProfiles.guarded!
const place = { workspace: '/work' }

/** Of this thread's processor time, so that what the machine does besides does not count. The rules took 2.9 s for some of these, the redactor 4.4. */
const mostMs = 600
function cost(work: () => unknown): number {
  const before = process.threadCpuUsage()
  work()
  const { user, system } = process.threadCpuUsage(before)
  return (user + system) / 1_000
}

test.each(inputs)('a call of a tool with %s holds up nobody', (_, input) => {
  for (const [name, work] of Object.entries({
    asEvent: () => harmless(input),
    redacted: () => redactor.value({ input }),
    unknownTool: () => decide(guarded, { tool: 'mcp__notes__write', input }, place),
    changes: () => decide(guarded, { tool: 'Write', input: { changes: input } }, place),
    command: () => decide(guarded, { tool: 'Bash', input: { command: input } }, place),
    body: () => [...unkeepable({ input })],
  }))
    expect({ name, ms: cost(work) }).toEqual({ name, ms: expect.toSatisfy((ms: number) => ms < mostMs) })
})

test('nothing secret is kept of what has too many secrets to look at all of them', () => {
  for (const [, input] of inputs) expect(JSON.stringify(redactor.value({ input })).includes(secret)).toBe(false)
})

test.each([
  ['eval', `${'eval '.repeat(30)}x`],
  ['eval to the end', 'eval '.repeat(13_000)],
  ['sh -c', "sh -c 'eval eval eval eval eval x';".repeat(1_500)],
  ['substitutions', '$('.repeat(30_000)],
  ['backquotes', '`a '.repeat(20_000)],
  ['groups', '( '.repeat(30_000)],
  ['documents', 'cat <<A\n'.repeat(8_000)],
  ['commands', 'a;'.repeat(32_000)],
  ['redirections', '>a'.repeat(32_000)],
  ['wrappers', 'env '.repeat(16_000)],
])('a command line made of %s is read in a moment', (_, command) => {
  expect(cost(() => decide(guarded, { tool: 'Bash', input: { command } }, place))).toBeLessThan(mostMs)
})

test('a command line that takes too long to read counts as broken, and one with an honest eval does not', () => {
  expect(shellParts(`${'eval '.repeat(30)}x`).isBroken).toBe(true)
  expect(shellParts('eval "git push" && sudo sh -c "rm x"').isBroken).toBe(false)
})

test('bounds are kept at every level', () => {
  expect(isSmall({ a: [1, { b: 2 }] }, { levels: 3, parts: 4 })).toBe(true)
  expect(isSmall({ a: [1, { b: 2 }] }, { levels: 2, parts: 4 })).toBe(false)
  expect(isSmall({ a: [1, { b: 2 }] }, { levels: 3, parts: 3 })).toBe(false)
})
