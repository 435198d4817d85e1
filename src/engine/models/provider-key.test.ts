import { mkdtempSync, rmSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { expect, test } from 'vitest'
import { systemClock } from '../../base/clock.ts'
import type { KeyPlace } from '../../domain/agent/models.ts'
import { notFound } from '../../domain/error.ts'
import { type KeyParts, keyReader } from './provider-key.ts'

const whom = { agent: 'a', user: 'u' }
const reader = (place: KeyPlace | undefined, parts: Partial<KeyParts> = {}) =>
  keyReader('p', place, whom, { environment: () => ({}), secretsFor: async () => [], clock: systemClock, ...parts })

test('a changed variable or file counts at once', async () => {
  const variables: Record<string, string> = { P_KEY: ' first ' }
  const inVariable = reader({ env: 'P_KEY' }, { environment: () => variables })
  expect(await inVariable()).toEqual({ name: 'P_KEY', value: 'first' })
  variables.P_KEY = 'second'
  expect(await inVariable()).toEqual({ name: 'P_KEY', value: 'second' })
  delete variables.P_KEY
  await expect(inVariable()).rejects.toThrow('The key of provider "p" is to be in P_KEY, which is not set for Pawl.')

  const folder = mkdtempSync(join(tmpdir(), 'pawl-key-'))
  try {
    const file = join(folder, 'key')
    const inFile = reader({ file })
    await expect(inFile()).rejects.toThrow(`The key of provider "p" is to be in the file ${file}, which is not there.`)
    await expect(reader({ file: folder })()).rejects.toThrow(/^The key file of provider "p" cannot be read: /)
    writeFileSync(file, 'first\n')
    expect((await inFile())?.value).toBe('first')
    writeFileSync(file, 'second')
    expect((await inFile())?.value).toBe('second')
    writeFileSync(file, 'two\nlines\n')
    await expect(inFile()).rejects.toThrow(/holds no key; put the key in it, alone\.$/)
  } finally {
    rmSync(folder, { recursive: true, force: true })
  }
})

test('a secret is asked for again when some seconds have passed', async () => {
  let nowMs = 0
  let asked = 0
  const inStore = reader(
    { secret: 'P' },
    {
      clock: { ...systemClock, monotonic: () => nowMs },
      async secretsFor(wanted, { agent }) {
        asked++
        return wanted.map(({ name, variable }) => ({ name, variable, value: `${name} of ${agent}, ${asked}` }))
      },
    },
  )
  expect(await inStore()).toEqual({ name: 'P', value: 'P of a, 1' })
  expect((await inStore())?.value).toBe('P of a, 1')
  nowMs += 11_000
  expect((await inStore())?.value).toBe('P of a, 2')
  const missing = reader(
    { secret: 'P' },
    {
      secretsFor: async () => {
        throw notFound('not there')
      },
    },
  )
  await expect(missing()).rejects.toThrow('The key of provider "p" is to be the secret "P"; set it: pawl secret set P')
})

test('a provider without a key has none', async () => {
  expect(await reader(undefined)()).toBeUndefined()
})
