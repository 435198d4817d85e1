import { mkdtempSync, readFileSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, onTestFinished, test } from 'vitest'
import { adapterNamed } from '../../agents/index.ts'
import { systemClock } from '../../base/clock.ts'
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

test('a program is asked for its version once, for all folders and models, and again when it is another file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-probes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [command, asked] = [join(folder, 'opencode'), join(folder, 'asked')]
  const put = (version: string) => {
    rmSync(command, { force: true })
    writeFileSync(command, `#!/bin/sh\necho x >> ${asked}\necho ${version}\n`, { mode: 0o755 })
  }
  const versions = async (path: string) => {
    const agent = { adapter: 'opencode', options: { command }, model: path, baseUrl: `http://127.0.0.1/${path}` }
    return (await probe(agent, join(folder, path))).version
  }
  put('1.18.33')
  expect([await versions('a'), await versions('b'), await versions('c')]).toEqual(['1.18.33', '1.18.33', '1.18.33'])
  expect(readFileSync(asked, 'utf8')).toBe('x\n')
  put('1.18.40')
  expect([await versions('a'), await versions('d')]).toEqual(['1.18.40', '1.18.40'])
  expect(readFileSync(asked, 'utf8')).toBe('x\nx\n')
})

test('a program that is too slow to answer is what it was before, as long as it is the same file', async () => {
  const folder = mkdtempSync(join(tmpdir(), 'pawl-probes-'))
  onTestFinished(() => rmSync(folder, { recursive: true, force: true }))
  const [command, slow] = [join(folder, 'opencode'), join(folder, 'slow')]
  const put = (version: string) => {
    rmSync(command, { force: true })
    writeFileSync(command, `#!/bin/sh\ntest -e ${slow} && exit 9\necho ${version}\n`, { mode: 0o755 })
  }
  let now = 0
  const clock = { ...systemClock, monotonic: () => now }
  const later = createProbes({ adapterNamed, clock, place: { path: process.env.PATH ?? '' } })
  const ask = () => later({ adapter: 'opencode', options: { command } }, join(folder, 'work'))
  put('1.18.33')
  expect(await ask()).toMatchObject({ healthy: true, version: '1.18.33' })
  writeFileSync(slow, '')
  now += 3_600_000
  expect(await ask()).toMatchObject({ healthy: false, version: '1.18.33' })
  rmSync(slow)
  expect(await ask()).toMatchObject({ healthy: true, version: '1.18.33' })
  writeFileSync(slow, '')
  put('1.18.40')
  expect(await ask()).toMatchObject({ healthy: false })
  expect(await ask()).not.toHaveProperty('version')
})
