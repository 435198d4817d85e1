import { expect, test } from 'vitest'
import { ResolvedAgent } from '../../../domain/agent/agent-config.ts'
import { specOf } from './spec.ts'

test('a task is recorded if it says so, or if it says nothing and its agent does', () => {
  const agent = ResolvedAgent.parse({ name: 'a', adapter: 'demo' })
  const recording = { ...agent, record: true }
  expect(specOf({ prompt: 'x', record: true }, agent, [])).toEqual({ record: true })
  expect(specOf({ prompt: 'x' }, recording, [])).toEqual({ record: true })
  expect(specOf({ prompt: 'x', record: false }, recording, [])).toEqual({})
  expect(specOf({ prompt: 'x' }, agent, [])).toEqual({})
})
