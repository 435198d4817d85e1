import { randomBytes } from 'node:crypto'
import { chmod, readdir, readFile, rename, rm, stat, writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, describe, expect, it } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createSecrets } from '../../src/engine/auth/secrets.ts'
import { createKeySource, type KeySettings } from '../../src/secrets/key-source.ts'
import { fingerprintOf } from '../../src/secrets/seal.ts'
import { insertAudit } from '../../src/store/audit.ts'
import { makeParts } from '../engine/store.ts'

const caller = { by: 'cli', user: 'ada' }
const run = { agent: 'helper', user: 'ada' }
const named = (...names: string[]) => names.map((name) => ({ name, variable: name }))

let parts: Awaited<ReturnType<typeof makeParts>>
let close: () => Promise<void>
beforeAll(async () => {
  parts = await makeParts((end) => {
    close = end
  })
})
afterAll(() => close())

const keyFile = () => join(parts.home.path, 'secret.key')
const environment: Record<string, string> = {}
/** As each Pawl process makes it: nothing is remembered from one to the next. */
const open = (key?: KeySettings) => {
  const { db, log, home } = parts
  const audit = createAudit({ db, log, clock: systemClock })
  return createSecrets({
    db,
    clock: systemClock,
    keySource: createKeySource(key, { home: home.path, environment: () => environment }),
    audit: (tx, { caller, action, subject, detail }) => insertAudit(tx, audit.entry(caller, action, subject, detail)),
  })
}
const rows = async () =>
  (await sql<Record<string, unknown>>`select * from pawl.secrets order by name, scope`.execute(parts.db)).rows

beforeEach(async () => {
  await sql`truncate pawl.secrets`.execute(parts.db)
  for (const name of await readdir(parts.home.path))
    if (name.startsWith('secret.key')) await rm(join(parts.home.path, name), { recursive: true })
})

describe('a secret that was set', () => {
  it('is given to a run as it was, whatever is in it', async () => {
    const values = {
      ONE: 'x',
      LINES: '-----BEGIN KEY-----\nabc\n\ndef\n-----END KEY-----\n',
      JSON: JSON.stringify({ key: 'quote " and \\ and \n' }),
      SCRIPT: 'naïve 日本 🙂',
      LARGE: 'k'.repeat(64 * 1024),
    }
    const secrets = open()
    for (const [name, value] of Object.entries(values)) await secrets.setSecret('global', name, value, caller)
    const given = await open().resolve(named(...Object.keys(values)), run)
    expect(Object.fromEntries(given.map(({ variable, value }) => [variable, value]))).toEqual(values)
  })

  it('is listed by name, scope and time, and its value is nowhere in the database', async () => {
    const value = 'correct-horse-battery-staple'
    const view = await open().setSecret('agent:helper', 'TOKEN', value, caller)
    expect(view).toEqual({ scope: 'agent:helper', name: 'TOKEN', updatedAt: expect.any(String), updatedBy: 'ada' })
    expect(await open().listSecrets()).toEqual([view])
    const stored = JSON.stringify(await rows(), (_, given) =>
      given?.type === 'Buffer' ? Buffer.from(given.data).toString('latin1') : given,
    )
    expect(stored).toContain('TOKEN')
    expect(stored).not.toContain(value)
    const audited = await sql<{
      action: string
      subject: string
      detail: unknown
    }>`select action, subject, detail from pawl.audit order by id desc limit 1`.execute(parts.db)
    expect(audited.rows).toEqual([{ action: 'secret.set', subject: 'agent:helper TOKEN', detail: {} }])
  })

  it('is sealed differently each time, even with the same value', async () => {
    const secrets = open()
    await secrets.setSecret('global', 'TOKEN', 'the same value', caller)
    const [before] = await rows()
    await secrets.setSecret('global', 'TOKEN', 'the same value', caller)
    const [after] = await rows()
    expect(after!.sealed).not.toEqual(before!.sealed)
    expect(after!.nonce).not.toEqual(before!.nonce)
  })

  it('is taken from the narrowest scope: the user, then the agent, then everybody', async () => {
    const secrets = open()
    for (const scope of ['global', 'agent:helper', 'user:ada', 'agent:other', 'user:bob'])
      await secrets.setSecret(scope, 'TOKEN', `for ${scope}`, caller)
    const valueFor = async (agent: string, user: string) => (await secrets.resolve(named('TOKEN'), { agent, user }))[0]!.value
    expect(await valueFor('helper', 'ada')).toBe('for user:ada')
    expect(await valueFor('helper', 'eve')).toBe('for agent:helper')
    expect(await valueFor('third', 'eve')).toBe('for global')
    expect(await valueFor('other', 'bob')).toBe('for user:bob')
  })

  it('is given in the variable that the profile names, also twice', async () => {
    const secrets = open()
    await secrets.setSecret('global', 'deploy-key', 'k1234567', caller)
    const wanted = [
      { name: 'deploy-key', variable: 'DEPLOY_KEY' },
      { name: 'deploy-key', variable: 'GIT_KEY' },
    ]
    expect(await secrets.resolve(wanted, run)).toEqual(wanted.map((each) => ({ ...each, value: 'k1234567' })))
  })

  it('is gone once it was removed; a run that needs it is told how to set it', async () => {
    const secrets = open()
    await secrets.setSecret('global', 'TOKEN', 'value', caller)
    await secrets.removeSecret('global', 'TOKEN', caller)
    expect(await rows()).toEqual([])
    await expect(secrets.removeSecret('global', 'TOKEN', caller)).rejects.toThrow(
      'There is no secret "TOKEN" of the scope global',
    )
    await expect(secrets.getSecret('global', 'TOKEN')).rejects.toMatchObject({ code: 'not_found' })
    await expect(secrets.resolve(named('TOKEN'), run)).rejects.toThrow('pawl secret set TOKEN')
  })

  it.each([
    ['nothing', '', 'cannot be empty'],
    ['a NUL', 'a\0b', 'is no text'],
    ['half a surrogate pair', 'a\ud800', 'is no text'],
    ['too much', 'ä'.repeat(32 * 1024 + 1), 'has 65538 bytes'],
  ])('cannot be %s, and the refusal does not repeat it', async (_, value, sentence) => {
    const refused = await open()
      .setSecret('global', 'TOKEN', value, caller)
      .catch((error: unknown) => error)
    expect(refused).toMatchObject({ code: 'invalid', message: expect.stringContaining(sentence) })
  })

  it.each([
    ['global', 'a b'],
    ['global', '../x'],
    ['global', ''],
    ['everybody', 'TOKEN'],
    ['agent:', 'TOKEN'],
    ['user:a b', 'TOKEN'],
  ])('cannot be called %j %j', async (scope, name) => {
    await expect(open().setSecret(scope, name, 'value', caller)).rejects.toMatchObject({ code: 'invalid' })
  })
})

describe('a row', () => {
  it('opens nowhere but where it was stored: not under another name or scope, not as another version, not with a bit changed', async () => {
    const secrets = open()
    const spoil = async (change: ReturnType<typeof sql>) => {
      await sql`truncate pawl.secrets`.execute(parts.db)
      await secrets.setSecret('global', 'TOKEN', 'a value of some length', caller)
      await secrets.setSecret('global', 'OTHER', 'another', caller)
      await change.execute(parts.db)
      const wanted = await rows()
      const names = wanted.map(({ name }) => String(name))
      return secrets.resolve(named(...names), run).then(
        () => 'opened',
        (error: Error) => error.message,
      )
    }
    const changes = [
      sql`update pawl.secrets a set sealed = b.sealed, nonce = b.nonce from pawl.secrets b where a.name <> b.name`,
      sql`update pawl.secrets set name = 'THIRD' where name = 'TOKEN'`,
      sql`update pawl.secrets set scope = 'user:ada' where name = 'TOKEN'`,
      sql`update pawl.secrets set version = version + 1 where name = 'TOKEN'`,
      sql`update pawl.secrets set sealed = set_byte(sealed, 3, get_byte(sealed, 3) # 1) where name = 'TOKEN'`,
      sql`update pawl.secrets set sealed = substring(sealed from 1 for 20) where name = 'TOKEN'`,
      sql`update pawl.secrets set sealed = '' where name = 'TOKEN'`,
      sql`update pawl.secrets set nonce = '' where name = 'TOKEN'`,
    ]
    for (const change of changes) expect(await spoil(change)).toContain('is not as it was stored')
    expect(await spoil(sql`select 1`)).toBe('opened')
  })
})

describe('the key', () => {
  it('is made with the first secret, for its owner alone, and never replaced', async () => {
    await expect(stat(keyFile())).rejects.toThrow('ENOENT')
    await Promise.all(['A', 'B', 'C', 'D'].map((name) => open().setSecret('global', name, `value of ${name}`, caller)))
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600)
    expect(new Set((await rows()).map(({ key_fingerprint }) => key_fingerprint)).size).toBe(1)
    expect((await open().resolve(named('A', 'B', 'C', 'D'), run)).map(({ value }) => value.at(-1))).toEqual(['A', 'B', 'C', 'D'])
    expect((await readdir(parts.home.path)).filter((name) => name.startsWith('secret.key'))).toEqual(['secret.key'])
  })

  it.each([
    ['is gone', () => rm(keyFile()), 'There is no key in the file'],
    ['is another', () => writeFile(keyFile(), randomBytes(32).toString('hex')), 'is not the one the secrets were stored with'],
    ['is torn', () => writeFile(keyFile(), 'c2hvcnQ='), 'holds no key'],
    ['is empty', () => writeFile(keyFile(), ''), 'holds no key'],
    ['is open to others', () => chmod(keyFile(), 0o644), 'chmod 600'],
  ])('that %s is named in a sentence, and nothing is stored under another', async (_, spoil, sentence) => {
    await open().setSecret('global', 'TOKEN', 'value', caller)
    const key = await readFile(keyFile(), 'utf8')
    await spoil()
    const secrets = open()
    await expect(secrets.resolve(named('TOKEN'), run)).rejects.toThrow(sentence)
    await expect(secrets.setSecret('global', 'NEXT', 'value', caller)).rejects.toThrow(sentence)
    expect(await secrets.listSecrets()).toHaveLength(1)
    await writeFile(keyFile(), key)
    await chmod(keyFile(), 0o600)
    expect((await secrets.resolve(named('TOKEN'), run))[0]!.value).toBe('value')
  })

  it('may come from a variable, a file or a program', async () => {
    const key = randomBytes(32)
    environment.PAWL_TEST_KEY = key.toString('base64')
    const file = join(parts.home.path, 'secret.key.elsewhere')
    await writeFile(file, `${key.toString('hex')}\n`, { mode: 0o600 })
    const sources: KeySettings[] = [{ env: 'PAWL_TEST_KEY' }, { file }, { command: ['cat', file] }]
    await open(sources[0]).setSecret('global', 'TOKEN', 'value', caller)
    for (const source of sources) expect((await open(source).resolve(named('TOKEN'), run))[0]!.value).toBe('value')
    expect((await rows())[0]!.key_fingerprint).toBe(fingerprintOf(key))
    await expect(stat(keyFile())).rejects.toThrow('ENOENT')
  })

  it.each<[string, KeySettings, string]>([
    ['a variable that is not set', { env: 'PAWL_NO_KEY' }, 'Set PAWL_NO_KEY to 32 bytes'],
    ['a file that is not there', { file: '/nowhere/key' }, 'There is no key in the file /nowhere/key'],
    ['a program that is not there', { command: ['no-such-program-of-keys'] }, 'is not installed'],
    ['a program that fails', { command: ['sh', '-c', 'echo the-key-itself >&2; exit 3'] }, 'ended with code 3'],
    ['a program that prints something else', { command: ['echo', 'the-key-itself'] }, 'holds no key'],
  ])('is missed clearly, and never made up, where it should come from %s', async (_, source, sentence) => {
    const refused = (await open(source)
      .setSecret('global', 'TOKEN', 'value', caller)
      .catch((error: unknown) => error)) as Error
    expect(refused.message).toContain(sentence)
    expect(refused.message).not.toContain('the-key-itself')
    expect(await rows()).toEqual([])
  })
})

describe('a change of the key', () => {
  const fill = async () => {
    const secrets = open()
    for (const name of ['A', 'B', 'C']) await secrets.setSecret('global', name, `value of ${name}`, caller)
    return secrets
  }
  const opens = async (secrets = open()) => (await secrets.resolve(named('A', 'B', 'C'), run)).map(({ value }) => value)
  const values = ['value of A', 'value of B', 'value of C']

  it('seals everything anew; whoever had the old key in memory finds the new one', async () => {
    const other = await fill()
    const before = await readFile(keyFile(), 'utf8')
    const done = await open().rekey(caller)
    expect(done).toEqual({ secrets: 3, fingerprint: expect.stringMatching(/^[0-9a-f]{16}$/) })
    expect(await readFile(keyFile(), 'utf8')).not.toBe(before)
    expect((await stat(keyFile())).mode & 0o777).toBe(0o600)
    expect(await opens(other)).toEqual(values)
    expect(await opens()).toEqual(values)
    await writeFile(keyFile(), before)
    await expect(opens()).rejects.toThrow('is not the one')
  })

  it('that was cut short before the new key was in its place is found and ended', async () => {
    await fill()
    const old = await readFile(keyFile())
    await open().rekey(caller)
    await rename(keyFile(), `${keyFile()}.next`)
    await writeFile(keyFile(), old, { mode: 0o600 })
    expect(await opens()).toEqual(values)
    await open().setSecret('global', 'D', 'value of D', caller)
    expect((await readdir(parts.home.path)).filter((name) => name.startsWith('secret.key'))).toEqual(['secret.key'])
    expect(await opens()).toEqual(values)
  })

  it('that failed leaves everything as it was', async () => {
    await fill()
    await sql`update pawl.secrets set sealed = set_byte(sealed, 0, get_byte(sealed, 0) # 1) where name = 'C'`.execute(parts.db)
    const before = [await rows(), await readFile(keyFile(), 'utf8')]
    await expect(open().rekey(caller)).rejects.toThrow('"C"')
    expect([await rows(), await readFile(keyFile(), 'utf8')]).toEqual(before)
  })

  it('by several at once ends with one key that opens everything', async () => {
    await fill()
    await Promise.all([
      open().rekey(caller),
      open().rekey(caller),
      open().rekey(caller),
      open().setSecret('global', 'B', 'value of B', caller),
    ])
    expect(await opens()).toEqual(values)
    expect((await readdir(parts.home.path)).filter((name) => name.startsWith('secret.key'))).toEqual(['secret.key'])
  })

  it('to one that is kept elsewhere takes the old one from a file', async () => {
    await fill()
    environment.PAWL_TEST_KEY = randomBytes(32).toString('base64')
    const source = { env: 'PAWL_TEST_KEY' }
    await expect(open(source).rekey(caller)).rejects.toThrow('pawl secret rekey --from FILE')
    await expect(opens(open(source))).rejects.toThrow('pawl secret rekey --from FILE')
    await open(source).rekey(caller, { from: keyFile() })
    expect(await opens(open(source))).toEqual(values)
    await expect(open(source).rekey(caller, { from: keyFile() })).rejects.toThrow(
      'is not the one that the secret "A" was stored with',
    )
  })
})
