import { execFileSync } from 'node:child_process'
import { existsSync, mkdirSync, mkdtempSync, readFileSync, rmSync, statSync, writeFileSync } from 'node:fs'
import { tmpdir } from 'node:os'
import { dirname, join } from 'node:path'
import { afterEach, beforeEach, describe, expect, test } from 'vitest'
import type { Login } from '../../agents/port.ts'
import { systemClock } from '../../base/clock.ts'
import { ResolvedAgent } from '../../domain/agent/agent-config.ts'
import { type AccessPlace, doorAccess, findAccess } from './agent-access.ts'
import { createLeftovers } from './cleanup-journal.ts'

const login: Login = {
  variables: ['FIRST_KEY', 'SECOND_KEY'],
  files: [
    {
      path: '.program/login.json',
      newness: (text) => {
        const at: unknown = (JSON.parse(text) as { at?: unknown }).at
        return typeof at === 'number' ? at : undefined
      },
    },
  ],
  script: true,
}

describe('access of an agent to its model', () => {
  let base: string
  let sessionHome: string
  let userHome: string
  beforeEach(() => {
    base = mkdtempSync(join(tmpdir(), 'pawl-access-'))
    sessionHome = join(base, 'home/sessions/s_1')
    userHome = join(base, 'user')
    for (const folder of [sessionHome, userHome]) mkdirSync(folder, { recursive: true })
  })
  afterEach(() => rmSync(base, { recursive: true, force: true }))

  const leftovers = (worker = 'w_1') => createLeftovers({ home: join(base, 'home'), worker })
  const open = async (...given: Parameters<typeof find>) => (await find(...given)).open('the-token-of-the-door')
  function find(
    settings: { auth?: ResolvedAgent['auth']; env?: ResolvedAgent['env']; variables?: Record<string, string> } = {},
    changes: Partial<AccessPlace> = {},
  ) {
    const { variables = {}, ...agent } = settings
    return findAccess(placeWith({ variables, ...agent }, changes))
  }
  function placeWith(
    settings: { auth?: ResolvedAgent['auth']; env?: ResolvedAgent['env']; variables?: Record<string, string> } = {},
    changes: Partial<AccessPlace> = {},
  ): AccessPlace {
    const { variables = {}, ...agent } = settings
    return {
      agent: ResolvedAgent.parse({ name: 'a', adapter: 'x', ...agent }),
      login,
      environment: (names) =>
        Object.fromEntries(names.flatMap((name) => (variables[name] === undefined ? [] : [[name, variables[name]]]))),
      userHome,
      sessionHome,
      user: undefined,
      leftovers: leftovers(),
      clock: systemClock,
      hide: () => {},
      ...changes,
    }
  }
  const userLogin = () => join(userHome, '.program/login.json')
  const lentLogin = () => join(sessionHome, '.program/login.json')
  function logIn(at: number, secret = 'token') {
    mkdirSync(dirname(userLogin()), { recursive: true })
    writeFileSync(userLogin(), JSON.stringify({ at, secret }), { mode: 0o600 })
  }

  test('a program that needs no key gets none', async () => {
    expect((await open({ variables: { FIRST_KEY: 'k' } }, { login: undefined })).access).toEqual({ kind: 'none' })
  })

  test('a program whose model is served at its door gets the token in place of the key, and no variable that may hold one', async () => {
    const place = placeWith({ auth: { env: ['OWN_KEY'] }, variables: { OWN_KEY: 'real', FIRST_KEY: 'real too' } })
    const door = doorAccess(place, ['PROVIDER_KEY'])
    expect(await door.open('token-1')).toMatchObject({
      access: { kind: 'variable', name: 'FIRST_KEY' },
      variables: { FIRST_KEY: 'token-1' },
      withheld: ['FIRST_KEY', 'SECOND_KEY', 'OWN_KEY', 'PROVIDER_KEY'],
    })
    // It never had the key: another key is no reason to start it anew.
    expect(door.likeness).toBe(doorAccess(placeWith({ variables: { FIRST_KEY: 'renewed' } }), []).likeness)
    expect(door.likeness).not.toBe((await find({ variables: { FIRST_KEY: 'real' } })).likeness)
  })

  test('a program that takes its key from a script gets the token from one', async () => {
    const opened = await doorAccess(placeWith({ auth: { via: 'script' } }), []).open('token-2')
    const { access } = opened
    if (access.kind !== 'script') throw new Error('no script')
    expect(execFileSync(access.path).toString()).toBe('token-2')
    await opened.close()
    expect(existsSync(access.path)).toBe(false)
  })

  test('a plain command gets nothing here: it finds the token in its environment', async () => {
    const opened = await doorAccess(placeWith({ auth: { env: ['OWN_KEY'] } }, { login: undefined }), []).open('token-3')
    expect(opened).toMatchObject({ access: { kind: 'none' }, variables: {}, withheld: ['OWN_KEY'] })
  })

  test('the first variable that holds something counts, and an empty one does not hide the next', async () => {
    const variables = { OWN_KEY: ' ', SECOND_KEY: 'second' }
    expect(await open({ auth: { env: ['OWN_KEY'] }, variables })).toMatchObject({
      access: { kind: 'variable', name: 'SECOND_KEY' },
      variables: { SECOND_KEY: 'second' },
    })
  })

  test('a key keeps the name it was found under, and gets one that the program knows', async () => {
    const found = await open({ auth: { env: ['NOT_SET', 'OWN_KEY'] }, variables: { OWN_KEY: 'mine', FIRST_KEY: 'other' } })
    expect(found.access).toEqual({ kind: 'variable', name: 'FIRST_KEY' })
    expect(found.variables).toEqual({ OWN_KEY: 'mine', FIRST_KEY: 'mine' })
  })

  test('a key that the settings set is used like one of the environment', async () => {
    const { access } = await open({ env: { pass: [], set: { SECOND_KEY: 'fixed' } } })
    expect(access).toEqual({ kind: 'variable', name: 'SECOND_KEY' })
  })

  test('without a variable the key file counts, trimmed; a missing or empty one is refused by name', async () => {
    const file = join(base, 'key.txt')
    writeFileSync(file, '  from-file \n')
    expect((await open({ auth: { file } })).variables).toEqual({ FIRST_KEY: 'from-file' })
    writeFileSync(file, '\n')
    await expect(open({ auth: { file } })).rejects.toThrow(/key\.txt of agent "a" holds no key/)
    await expect(open({ auth: { file: join(base, 'none') } })).rejects.toThrow(/cannot be read/)
  })

  test('a script hands the key over, for the owner only, and is gone afterwards', async () => {
    const opened = await open({ auth: { via: 'script' }, variables: { FIRST_KEY: `it's "odd" $HOME` } })
    if (opened.access.kind !== 'script') throw new Error(opened.access.kind)
    expect(opened.variables).toEqual({})
    expect(statSync(opened.access.path).mode & 0o777).toBe(0o700)
    expect(execFileSync(opened.access.path, { encoding: 'utf8' })).toBe(`it's "odd" $HOME`)
    await opened.close()
    expect(existsSync(opened.access.path)).toBe(false)
  })

  test('a script that a killed process left is removed at the next start, one in use is not', async () => {
    const opened = await open({ auth: { via: 'script' }, variables: { FIRST_KEY: 'k' } })
    if (opened.access.kind !== 'script') throw new Error(opened.access.kind)
    const next = leftovers('w_2')
    expect(await next.sweep({ living: async () => new Set(['w_1']) })).toBe(0)
    expect(existsSync(opened.access.path)).toBe(true)
    expect(await next.sweep({ living: async () => new Set() })).toBe(1)
    expect(existsSync(opened.access.path)).toBe(false)
    expect(await next.sweep({ living: async () => new Set() })).toBe(0)
  })

  test('a script is refused for a program that takes none', async () => {
    const plain: Login = { ...login, script: false }
    await expect(open({ auth: { via: 'script' }, variables: { FIRST_KEY: 'k' } }, { login: plain })).rejects.toThrow(/auth\.via/)
  })

  test("the program's own login is lent, for the owner only, and taken away again", async () => {
    logIn(1)
    const opened = await open()
    expect(opened.access).toEqual({ kind: 'login' })
    expect(readFileSync(lentLogin(), 'utf8')).toBe(readFileSync(userLogin(), 'utf8'))
    expect(statSync(lentLogin()).mode & 0o777).toBe(0o600)
    await opened.close()
    expect(existsSync(lentLogin())).toBe(false)
    expect(JSON.parse(readFileSync(userLogin(), 'utf8'))).toEqual({ at: 1, secret: 'token' })
  })

  test('a set variable is preferred to the login', async () => {
    logIn(1)
    expect((await open({ variables: { FIRST_KEY: 'k' } })).access.kind).toBe('variable')
    expect(existsSync(lentLogin())).toBe(false)
  })

  test('a key is looked for in the named variables, then those of the program, then the named file, then its login', async () => {
    const file = join(base, 'key.txt')
    writeFileSync(file, 'from-file')
    logIn(1)
    const auth = { env: ['OWN_KEY'], file }
    const variables = { OWN_KEY: 'own', FIRST_KEY: 'first', SECOND_KEY: 'second' }
    const { OWN_KEY: _own, ...known } = variables
    expect((await open({ auth, variables })).variables).toEqual({ OWN_KEY: 'own', FIRST_KEY: 'own' })
    expect((await open({ auth, variables: known })).variables).toEqual({ FIRST_KEY: 'first' })
    expect((await open({ auth, variables: { SECOND_KEY: 'second' } })).variables).toEqual({ SECOND_KEY: 'second' })
    expect((await open({ auth })).variables).toEqual({ FIRST_KEY: 'from-file' })
    expect((await open({ auth: { env: ['OWN_KEY'] } })).access).toEqual({ kind: 'login' })
  })

  test('a login that the program refreshed goes back, with the mode it had; an older or broken one does not', async () => {
    logIn(5)
    const opened = await open()
    for (const [text, expected] of [
      ['{"at":4,"secret":"older"}', 5],
      ['{"broken":true}', 5],
      ['{"at":6,"secret":"newer"}', 6],
    ] as const) {
      writeFileSync(lentLogin(), text)
      await opened.returnLogin()
      expect(JSON.parse(readFileSync(userLogin(), 'utf8')).at).toBe(expected)
    }
    expect(statSync(userLogin()).mode & 0o777).toBe(0o600)
  })

  test('a login that was renewed outside meanwhile is not overwritten by an older refresh', async () => {
    logIn(1)
    const opened = await open()
    writeFileSync(lentLogin(), '{"at":2,"secret":"refreshed"}')
    logIn(3, 'logged in again')
    await opened.close()
    expect(JSON.parse(readFileSync(userLogin(), 'utf8'))).toEqual({ at: 3, secret: 'logged in again' })
  })

  test('one who logged out meanwhile stays logged out', async () => {
    logIn(1)
    const opened = await open()
    writeFileSync(lentLogin(), '{"at":2}')
    rmSync(userLogin())
    await opened.close()
    expect(existsSync(userLogin())).toBe(false)
  })

  test('a lent login that a killed process left is removed at the next start', async () => {
    logIn(1)
    await open()
    await leftovers('w_2').sweep({ living: async () => new Set() })
    expect(existsSync(lentLogin())).toBe(false)
    expect(existsSync(userLogin())).toBe(true)
  })

  test('likeness tells two keys apart and shows neither', async () => {
    const [one, same, other] = await Promise.all(
      ['key-one', 'key-one', 'key-two'].map((FIRST_KEY) => find({ variables: { FIRST_KEY } })),
    )
    expect(one?.likeness).toBe(same?.likeness)
    expect(one?.likeness).not.toBe(other?.likeness)
    expect(one?.likeness).not.toContain('key-one')
  })
})
