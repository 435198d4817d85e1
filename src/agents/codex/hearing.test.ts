import { expect, test } from 'vitest'
import type { LifeSign } from '../port.ts'
import { hear } from './hearing.ts'
import { createUsageMeter } from './usage.ts'

test.each<[string, LifeSign[]]>([
  ['item/commandExecution/outputDelta', ['call']],
  ['item/mcpToolCall/progress', ['call']],
  ['item/reasoning/textDelta', ['news']],
  ['item/plan/delta', ['news']],
  ['thread/status/changed', []],
])('%s is read as a sign of life: %j', async (method, signs) => {
  const seen: LifeSign[] = []
  const emitted: string[] = []
  const turn = {
    ...{
      prompt: '',
      signal: new AbortController().signal,
      ask: async () => undefined,
      permit: async () => ({ allow: true }) as const,
    },
    emit: ({ type }: { type: string }) => void emitted.push(type),
    sign: (sign: LifeSign) => void seen.push(sign),
  }
  const hearing = hear(turn, createUsageMeter())
  await hearing.notified(method, { threadId: 't', itemId: 'i', delta: 'x' }, '{}')
  await hearing.paused()
  expect([seen, emitted]).toEqual([signs, []])
})
