import { expect, test } from 'vitest'
import { adapterNamed } from '../../agents/index.ts'
import { systemClock } from '../../clock.ts'
import { createProbes } from './probes.ts'

const probe = createProbes({ adapterNamed, clock: systemClock, place: { path: process.env.PATH ?? '' } })

test('options that were stored without what has a default are asked about as if they had it', async () => {
  for (const adapter of ['acp', 'custom'])
    expect(await probe({ adapter, options: { command: 'node' } })).toMatchObject({ installed: true, healthy: true })
})

test('options that cannot be read any more are said to be wrong, and nothing is thrown', async () => {
  for (const adapter of ['acp', 'custom', 'opencode', 'gemini-cli', 'ollama'])
    expect(await probe({ adapter, options: { bygone: true } })).toMatchObject({
      healthy: false,
      detail: expect.stringContaining('bygone'),
    })
})
