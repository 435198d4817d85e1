import { chmodSync, chownSync, mkdirSync, mkdtempSync, rmSync, statSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, expect, test } from 'vitest'
import { createLog } from '../base/log.ts'
import { openHome } from '../config/places.ts'
import { tightenHome } from './tighten-home.ts'

let root: string
let home: string
let lines: string[]
beforeEach(() => {
  root = mkdtempSync(join(tmpdir(), 'pawl-tighten-'))
  home = join(root, 'home')
  mkdirSync(home)
  chmodSync(home, 0o755)
  lines = []
})
afterEach(() => rmSync(root, { recursive: true, force: true }))

const tighten = () =>
  tightenHome(home, createLog({ level: 'info', format: 'json', write: (line) => lines.push(line), now: () => 0 }))
const modeOf = (path: string) => (statSync(path).mode & 0o7777).toString(8)

test('a home that others can read is for its owner alone after the start, with all that lies in it', async () => {
  writeFileSync(join(home, 'token'), 'x')
  chmodSync(join(home, 'token'), 0o644)
  mkdirSync(join(home, 'blobs'))
  chmodSync(join(home, 'blobs'), 0o775)
  writeFileSync(join(root, 'foreign'), 'x')
  chmodSync(join(root, 'foreign'), 0o644)
  symlinkSync(join(root, 'foreign'), join(home, 'link'))
  mkdirSync(join(home, 'self-test'))
  chmodSync(join(home, 'self-test'), 0o755)
  await tighten()
  expect([home, join(home, 'token'), join(home, 'blobs')].map(modeOf)).toEqual(['700', '600', '700'])
  // A link is not followed, and the bait of the self-test has to be open.
  expect([join(root, 'foreign'), join(home, 'self-test')].map(modeOf)).toEqual(['644', '755'])
  expect(lines).toEqual([expect.stringMatching(/for its owner alone.*"entries":"\., (?=.*token)(?=.*blobs)/)])
  await tighten()
  expect(lines).toHaveLength(1)
})

test('a home that is a link to a folder of ours is tightened where it is', async () => {
  symlinkSync(home, join(root, 'alias'))
  await tightenHome(join(root, 'alias'), createLog({ level: 'error', format: 'json', write: () => undefined, now: () => 0 }))
  expect(modeOf(home)).toBe('700')
})

test.each([0o775, 0o757, 0o1777])('a home that others can write is refused with what to do: %o', async (mode) => {
  chmodSync(home, mode)
  await expect(openHome(home)).rejects.toThrow(/can be written by other users .*chmod 700/)
})

test.runIf(process.getuid?.() === 0)(
  'a home of somebody else is refused with what to do, and nothing in it is changed',
  async () => {
    writeFileSync(join(home, 'token'), 'x')
    chmodSync(join(home, 'token'), 0o644)
    chownSync(join(home, 'token'), 1_234, 1_234)
    chownSync(home, 1_234, 1_234)
    await expect(openHome(home)).rejects.toThrow(/belongs to the user with the id 1234.*Run Pawl as that user/)
    await tighten()
    expect([home, join(home, 'token')].map(modeOf)).toEqual(['755', '644'])
  },
)
