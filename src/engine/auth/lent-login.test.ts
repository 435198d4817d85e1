import { lstatSync, mkdirSync, mkdtempSync, readFileSync, renameSync, rmSync, symlinkSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { CredentialFile } from '../../agents/port.ts'
import { systemClock } from '../../base/clock.ts'
import type { Secret } from '../../domain/base/secret-names.ts'
import { createLeftovers, type Leftovers } from './cleanup-journal.ts'
import { type LentLogin, lendLogin } from './lent-login.ts'

const numberIn = (text: string, name: string) => {
  const value: unknown = (JSON.parse(text) as Record<string, unknown>)[name]
  return typeof value === 'number' ? value : undefined
}
const file: CredentialFile = {
  path: 'login.json',
  newness: (text) => numberIn(text, 'at'),
  expiresAt: (text) => numberIn(text, 'until'),
  account: (text) => String((JSON.parse(text) as Record<string, unknown>).who),
}
const hour = 3_600_000

describe('a lent login', () => {
  let base: string
  let leftovers: Leftovers
  let hidden: Secret[]
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'pawl-lent-'))
    for (const folder of ['user', 'a', 'b']) mkdirSync(join(base, folder))
    leftovers = createLeftovers({ home: base, worker: 'w_1' })
    hidden = []
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  /** At once, as programs do it: whoever looks sees the one or the other. */
  const put = (where: 'user' | 'a' | 'b', login: { at: number; until?: number; access_token?: string; who?: string }) => {
    const path = join(base, where, file.path)
    writeFileSync(`${path}.new`, JSON.stringify(login))
    renameSync(`${path}.new`, path)
  }
  const at = (where: 'user' | 'a' | 'b') => numberIn(readFileSync(join(base, where, file.path), 'utf8'), 'at')
  const lend = (to: 'a' | 'b') => {
    const hide = (secrets: readonly Secret[]) => void hidden.push(...secrets)
    const place = {
      userHome: join(base, 'user'),
      sessionHome: join(base, to),
      user: undefined,
      clock: systemClock,
      leftovers,
      hide,
    }
    return lendLogin([file], place)
  }

  test('that ends soon is lent to one alone until that has renewed it, which the next one gets', async () => {
    put('user', { at: 1, until: Date.now() + 1_000 })
    await lend('a')
    let second: LentLogin | undefined
    const lending = lend('b').then((lent) => {
      second = lent
    })
    expect(await Promise.race([lending, new Promise((done) => setTimeout(done, 100, 'waits'))])).toBe('waits')
    expect(second).toBeUndefined()
    put('a', { at: 2, until: Date.now() + hour })
    await lending
    expect([at('user'), at('b')]).toEqual([2, 2])
  })

  test('that ends soon and is given back as it was is lent to others without waiting', async () => {
    put('user', { at: 1, until: Date.now() + 1_000 })
    await (await lend('a')).giveBack()
    await Promise.all([lend('a'), lend('b')])
    expect(at('b')).toBe(1)
  })

  test.each([{ until: Date.now() + hour }, {}])('that does not end soon is lent to many at once: %j', async (ends) => {
    put('user', { at: 1, ...ends })
    await Promise.all([lend('a'), lend('b')])
    expect([at('a'), at('b')]).toEqual([1, 1])
  })

  test('that two renewed is put back by both, the newer one for good', async () => {
    put('user', { at: 1 })
    const [first, second] = await Promise.all([lend('a'), lend('b')])
    put('a', { at: 3 })
    put('b', { at: 2 })
    await second.giveBack()
    expect(at('user')).toBe(2)
    await first.giveBack()
    expect(at('user')).toBe(3)
    await second.giveBack()
    expect(at('user')).toBe(3)
  })

  test('is not put back over that of a user who logged in anew, however old that seems', async () => {
    put('user', { at: 5 })
    const lent = await lend('a')
    put('user', { at: 4, access_token: 'of another account' })
    put('a', { at: 6 })
    await lent.giveBack()
    expect(at('user')).toBe(4)
  })

  test('names its tokens, and those that it got when it was renewed', async () => {
    put('user', { at: 1, access_token: 'the first one' })
    const lent = await lend('a')
    expect(lent.secrets()).toEqual([{ name: 'access_token', value: 'the first one' }])
    put('a', { at: 2, access_token: 'the second one' })
    await lent.giveBack()
    expect(hidden).toEqual([{ name: 'access_token', value: 'the second one' }])
    expect(lent.secrets().map(({ value }) => value)).toEqual(['the first one', 'the second one'])
  })

  test("that the agent has made up does not become the user's", async () => {
    put('user', { at: 1, who: 'me' })
    const lent = await lend('a')
    put('a', { at: Date.now() + 1_000 * 86_400_000, who: 'me' })
    await lent.giveBack()
    expect(at('user')).toBe(1)
    put('a', { at: 2, who: 'somebody else' })
    await lent.giveBack()
    expect(at('user')).toBe(1)
    put('a', { at: 2, who: 'me' })
    await lent.giveBack()
    expect(at('user')).toBe(2)
  })

  test('goes back through a link of the user to where it leads', async () => {
    mkdirSync(join(base, 'dotfiles'))
    writeFileSync(join(base, 'dotfiles/login.json'), JSON.stringify({ at: 1 }), { mode: 0o600 })
    symlinkSync(join(base, 'dotfiles/login.json'), join(base, 'user', file.path))
    const lent = await lend('a')
    put('a', { at: 2 })
    await lent.giveBack()
    expect(lstatSync(join(base, 'user', file.path)).isSymbolicLink()).toBe(true)
    expect(numberIn(readFileSync(join(base, 'dotfiles/login.json'), 'utf8'), 'at')).toBe(2)
  })
})
