import { mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, it } from 'vitest'
import { createRememberedTests } from './remembered.ts'
import type { SelfTest } from './self-test.ts'

let home: string
beforeEach(() => {
  home = mkdtempSync(join(tmpdir(), 'pawl-remembered-'))
})
afterEach(() => rmSync(home, { recursive: true, force: true }))

const here = ['this boot', 'this kernel']
const passed: SelfTest = {
  passed: true,
  escaped: [],
  untested: [{ canary: 'relay', why: 'no door' }],
  failure: undefined,
  at: 1_000,
  ms: 200,
}
const memory = (ground = here, believed = true) => createRememberedTests({ home, ground, believed })
const file = () => join(home, 'self-test.json')

it('a test that was passed is found by the next process, whole, in a file for nobody else', async () => {
  expect(await memory().find('a')).toBeUndefined()
  await memory().keep('a', passed)
  expect(await memory().find('a')).toEqual(passed)
  expect(await memory().find('b')).toBeUndefined()
  expect(statSync(file()).mode & 0o777).toBe(0o600)
})

it('after a new boot, with another kernel, or for one who believes nothing it does not count', async () => {
  await memory().keep('a', passed)
  expect(await memory(['next boot', 'this kernel']).find('a')).toBeUndefined()
  expect(await memory(['this boot', 'other kernel']).find('a')).toBeUndefined()
  expect(await memory(here, false).find('a')).toBeUndefined()
  await memory(['next boot', 'this kernel']).keep('b', passed)
  expect(await memory().find('a')).toBeUndefined()
})

it('one that fails is forgotten, and was never remembered as passed', async () => {
  const failed = { ...passed, passed: false, failure: 'The walls could not be tried.' }
  await memory().keep('a', failed)
  expect(await memory().find('a')).toBeUndefined()
  await memory().keep('a', passed)
  await memory().keep('b', passed)
  await memory(here, false).keep('a', failed)
  expect([await memory().find('a'), await memory().find('b')]).toEqual([undefined, passed])
})

it.each(['', '{"ground":["this boot","this kernel"],"passed":{"a":{"passed":true}}}', 'null', '{"ground":'])(
  'a damaged file is no pass: %s',
  async (text) => {
    writeFileSync(file(), text)
    expect(await memory().find('a')).toBeUndefined()
    await memory().keep('a', passed)
    expect(await memory().find('a')).toEqual(passed)
  },
)

it('many at once are all kept, and of very many only the newest', async () => {
  const one = memory()
  await Promise.all(Array.from({ length: 60 }, (_, at) => one.keep(`profile ${at}`, { ...passed, at })))
  const kept = Object.keys(JSON.parse(readFileSync(file(), 'utf8')).passed)
  expect(kept).toHaveLength(50)
  expect(kept).toContain('profile 59')
  expect(kept).not.toContain('profile 9')
})

it('a home that cannot be written keeps nobody from working', async () => {
  const nowhere = createRememberedTests({ home: join(home, 'gone'), ground: here, believed: true })
  await nowhere.keep('a', passed)
  expect(await nowhere.find('a')).toBeUndefined()
})
