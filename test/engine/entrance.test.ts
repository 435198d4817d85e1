import { sql } from 'kysely'
import { afterAll, beforeAll, beforeEach, expect, it } from 'vitest'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createEntrance } from '../../src/engine/auth/auth.ts'
import { makeParts } from './store.ts'
import { HandClock } from './test-clock.ts'

const homeToken = 'home-token-0123456789abcdef0123456789'
const local = { by: 'test' }

let parts: Awaited<ReturnType<typeof makeParts>>
let close: () => Promise<void>
beforeAll(async () => {
  parts = await makeParts((end) => {
    close = end
  })
})
beforeEach(async () => {
  await sql`delete from pawl.tokens`.execute(parts.db)
  await sql`delete from pawl.users where name <> 'local'`.execute(parts.db)
})
afterAll(() => close())

async function makeEntrance() {
  const clock = new HandClock(Date.UTC(2030, 0, 1, 12))
  const audit = createAudit({ db: parts.db, clock, log: parts.log })
  const make = () => createEntrance({ db: parts.db, clock, log: parts.log, audit, homeToken })
  return { ...parts, clock, audit, entrance: make(), other: make() }
}

it('lets the owner of the home in by its token, and everybody else only by a token that was made for them', async () => {
  const { entrance } = await makeEntrance()
  expect(await entrance.authenticate(homeToken, 'header')).toEqual({ user: 'local', standing: 'admin', token: 'home' })
  expect(await entrance.authenticate(homeToken, 'cookie')).toBeUndefined()
  for (const wrong of [
    '',
    'pawl_',
    `${homeToken}x`,
    homeToken.slice(0, -1),
    homeToken.toUpperCase(),
    `pawl_${'a'.repeat(43)}`,
    `pawl_${'a'.repeat(9_000)}`,
  ])
    expect(await entrance.authenticate(wrong, 'header'), wrong.slice(0, 50)).toBeUndefined()
  await entrance.createUser({ name: 'anna', role: 'viewer' }, local)
  const { token, ...view } = await entrance.createToken({ user: 'anna', name: 'laptop' }, local)
  expect(token).toMatch(/^pawl_[\w-]{43}$/)
  expect(view).toMatchObject({
    user: 'anna',
    kind: 'user',
    name: 'laptop',
    createdBy: 'local',
    expiresAt: '2030-04-01T12:00:00.000Z',
  })
  expect(await entrance.authenticate(token, 'header')).toEqual({ user: 'anna', standing: 'viewer', token: view.id })
  expect(await entrance.authenticate(token, 'cookie')).toBeUndefined()
})

it('stores no token, only its hash', async () => {
  const { entrance, db, audit } = await makeEntrance()
  const { token } = await entrance.createToken({}, local)
  const { code } = await entrance.createSignInCode(local)
  const { session } = (await entrance.signIn(code))!
  await audit.seal()
  const { rows } = await sql<{ text: string }>`
    select (select string_agg(t::text, ' ') from pawl.tokens t) || (select string_agg(a::text, ' ') from pawl.audit a) as text
  `.execute(db)
  for (const secret of [token, code, session]) {
    expect(rows[0]!.text).not.toContain(secret)
    expect(rows[0]!.text).not.toContain(Buffer.from(secret).toString('hex'))
  }
})

it('a revoked token opens nothing at once here, and within a second elsewhere', async () => {
  const { entrance, other, clock } = await makeEntrance()
  const { token, id } = await entrance.createToken({}, local)
  expect(await entrance.authenticate(token, 'header')).toBeDefined()
  expect(await other.authenticate(token, 'header')).toBeDefined()
  const revoked = await entrance.revokeToken(id, local)
  expect(await entrance.authenticate(token, 'header')).toBeUndefined()
  clock.advance(1_000)
  expect(await other.authenticate(token, 'header')).toBeUndefined()
  clock.advance(1_000)
  expect(await entrance.revokeToken(id, local)).toEqual(revoked)
})

it('what was read while a token was being revoked is not believed afterwards', async () => {
  const { entrance, clock } = await makeEntrance()
  const { token, id } = await entrance.createToken({}, local)
  for (let round = 0; round < 5; round++) {
    const reading = Promise.all(Array.from({ length: 5 }, () => entrance.authenticate(token, 'header')))
    if (round === 2) await entrance.revokeToken(id, local)
    await reading
    if (round >= 2) expect(await entrance.authenticate(token, 'header')).toBeUndefined()
    clock.advance(1)
  }
})

it('a token ends with its time, its user, and for an agent with its run', async () => {
  const { entrance, clock, db, addTask, addWorker, admit } = await makeEntrance()
  await entrance.createUser({ name: 'anna', role: 'admin' }, local)
  const day = await entrance.createToken({ user: 'anna', expiresInDays: 1 }, local)
  const forever = await entrance.createToken({ user: 'anna', expiresInDays: 0, role: 'operator' }, local)
  const standing = async (token: string) => (await entrance.authenticate(token, 'header'))?.standing
  expect(await standing(day.token)).toBe('admin')
  expect(await standing(forever.token)).toBe('operator')
  clock.advance(86_400_000)
  expect(await standing(day.token)).toBeUndefined()
  await entrance.setUser('anna', { role: 'viewer' }, local)
  expect(await standing(forever.token)).toBe('viewer')
  await entrance.setUser('anna', { isDisabled: true }, local)
  expect(await standing(forever.token)).toBeUndefined()
  await entrance.setUser('anna', { isDisabled: false }, local)
  expect(await standing(forever.token)).toBe('viewer')
  await entrance.removeUser('anna', local)
  await entrance.createUser({ name: 'anna' }, local)
  expect(await standing(forever.token)).toBeUndefined()

  const task = await addTask()
  await expect(entrance.createToken({ kind: 'agent', task: task.id }, local)).rejects.toThrow(/is not running/)
  const run = await admit(task, 1, await addWorker())
  const agent = await entrance.createToken({ kind: 'agent', task: task.id }, local)
  expect(await entrance.authenticate(agent.token, 'header')).toMatchObject({ standing: 'agent', task: task.id })
  await sql`update pawl.runs set state = 'ended' where id = ${run.id}`.execute(db)
  clock.advance(1_000)
  expect(await standing(agent.token)).toBeUndefined()
})

it('a code signs one browser in, once, within five minutes, with no more rights than whoever asked for it', async () => {
  const { entrance, clock } = await makeEntrance()
  await entrance.createUser({ name: 'anna', role: 'admin' }, local)
  const asked = await entrance.createToken({ user: 'anna', role: 'viewer' }, local)
  const caller = { by: 'anna', user: 'anna', token: asked.id }
  const { code, path } = await entrance.createSignInCode(caller)
  expect(path).toBe(`/sign-in?code=${code}`)
  expect(await entrance.authenticate(code, 'header')).toBeUndefined()
  expect(await entrance.authenticate(code, 'cookie')).toBeUndefined()
  const both = await Promise.all([entrance.signIn(code), entrance.signIn(code)])
  const [signedIn] = both.filter((one) => one !== undefined)
  expect(both.filter((one) => one !== undefined)).toHaveLength(1)
  expect(await entrance.authenticate(signedIn!.session, 'header')).toBeUndefined()
  const principal = await entrance.authenticate(signedIn!.session, 'cookie')
  expect(principal).toMatchObject({ user: 'anna', standing: 'viewer' })
  await entrance.signOut(principal!)
  expect(await entrance.authenticate(signedIn!.session, 'cookie')).toBeUndefined()

  const opening = await entrance.createSignInCode(local, { opens: true })
  clock.advance(60_000)
  expect(await entrance.signIn(opening.code, { opens: true })).toBeUndefined()
  const late = await entrance.createSignInCode(local)
  clock.advance(5 * 60_000)
  expect(await entrance.signIn(late.code)).toBeUndefined()
  const { session } = (await entrance.signIn((await entrance.createSignInCode(local)).code))!
  clock.advance(12 * 3_600_000 - 1)
  expect(await entrance.authenticate(session, 'cookie')).toMatchObject({ user: 'local', standing: 'admin' })
  clock.advance(1)
  expect(await entrance.authenticate(session, 'cookie')).toBeUndefined()
})

it('a signed-in browser ends with the token that asked for its code, and cannot make itself last', async () => {
  const { entrance, other, clock } = await makeEntrance()
  await entrance.createUser({ name: 'anna' }, local)
  const asking = async (expiresInDays: number) => {
    const { id } = await entrance.createToken({ user: 'anna', expiresInDays }, local)
    const caller = { by: 'anna', user: 'anna', token: id }
    const code = async () => (await entrance.createSignInCode(caller)).code
    return { id, code, session: (await entrance.signIn(await code()))!.session }
  }
  const stolen = await asking(90)
  const unspent = await stolen.code()
  const principal = (await entrance.authenticate(stolen.session, 'cookie'))!
  await expect(entrance.createSignInCode({ ...principal, by: 'anna' })).rejects.toMatchObject({ code: 'denied' })
  await entrance.revokeToken(stolen.id, local)
  expect(await entrance.authenticate(stolen.session, 'cookie')).toBeUndefined()
  clock.advance(1_000)
  expect(await other.authenticate(stolen.session, 'cookie')).toBeUndefined()
  expect(await entrance.signIn(unspent)).toBeUndefined()
  expect((await entrance.listTokens({ user: 'anna' })).map(({ kind }) => kind)).toEqual([])

  const short = await asking(1)
  clock.advance(86_400_000 - 3_600_000)
  const late = (await entrance.signIn(await short.code()))!.session
  expect(await entrance.authenticate(late, 'cookie')).toMatchObject({ user: 'anna' })
  clock.advance(3_600_000)
  expect(await entrance.authenticate(late, 'cookie')).toBeUndefined()
})

it('who comes later under the name of a removed user has none of their secrets', async () => {
  const { entrance, db, audit } = await makeEntrance()
  await entrance.createUser({ name: 'anna' }, local)
  for (const scope of ['user:anna', 'user:annabel'])
    await sql`insert into pawl.secrets values (${scope}, 'KEY', 1, '', '', 'f', now(), 'test')`.execute(db)
  await entrance.removeUser('anna', local)
  const { rows } = await sql<{ scope: string }>`select scope from pawl.secrets`.execute(db)
  expect(rows).toEqual([{ scope: 'user:annabel' }])
  expect((await audit.list({ limit: 1 })).items).toMatchObject([{ action: 'user.remove', detail: { secrets: ['KEY'] } }])
  await sql`delete from pawl.secrets`.execute(db)
})

it('a code that opens nothing makes nobody else be looked up again', async () => {
  const { entrance } = await makeEntrance()
  let changes = 0
  entrance.onChange(() => changes++)
  await entrance.signIn(`pawl_${'a'.repeat(43)}`)
  const { id } = await entrance.createToken({}, local)
  expect(changes).toBe(0)
  await entrance.revokeToken(id, local)
  expect(changes).toBe(1)
})

it('the owner of the home can be neither changed nor removed, and no token is more than its user', async () => {
  const { entrance } = await makeEntrance()
  await expect(entrance.setUser('local', { role: 'viewer' }, local)).rejects.toMatchObject({ code: 'denied' })
  await expect(entrance.removeUser('local', local)).rejects.toMatchObject({ code: 'denied' })
  await entrance.createUser({ name: 'anna', role: 'viewer' }, local)
  await expect(entrance.createUser({ name: 'anna' }, local)).rejects.toMatchObject({ code: 'conflict' })
  await expect(entrance.createToken({ user: 'anna', role: 'operator' }, local)).rejects.toThrow(
    'The user "anna" is viewer; a token of theirs cannot be operator.',
  )
  await expect(entrance.createToken({ user: 'nobody' }, local)).rejects.toMatchObject({ code: 'not_found' })
  await expect(entrance.createToken({ kind: 'hook', role: 'admin' }, local)).rejects.toMatchObject({ code: 'invalid' })
  await expect(entrance.createToken({ kind: 'agent' }, local)).rejects.toMatchObject({ code: 'invalid' })
})

it('when a token was last used is kept to the minute', async () => {
  const { entrance, clock } = await makeEntrance()
  const { token, id } = await entrance.createToken({}, local)
  const lastUsed = async () => (await entrance.listTokens()).find((each) => each.id === id)?.lastUsedAt
  expect(await lastUsed()).toBeNull()
  await entrance.authenticate(token, 'header')
  await expect.poll(lastUsed).toBe('2030-01-01T12:00:00.000Z')
  clock.advance(30_000)
  await entrance.authenticate(token, 'header')
  clock.advance(40_000)
  await entrance.authenticate(token, 'header')
  await expect.poll(lastUsed).toBe('2030-01-01T12:01:10.000Z')
})

it('codes and sign-ins that ended a month ago are forgotten, tokens are not', async () => {
  const { entrance, clock } = await makeEntrance()
  const { id } = await entrance.createToken({ expiresInDays: 1 }, local)
  await entrance.signIn((await entrance.createSignInCode(local)).code)
  const kinds = async () => (await entrance.listTokens({ all: true })).map(({ kind }) => kind).sort()
  clock.advance(29 * 86_400_000)
  await entrance.tidy()
  expect(await kinds()).toEqual(['code', 'session', 'user'])
  clock.advance(2 * 86_400_000)
  await entrance.tidy()
  expect((await entrance.listTokens({ all: true })).map((token) => token.id)).toEqual([id])
})
