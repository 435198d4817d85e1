import { expect, onTestFinished, test } from 'vitest'
import { systemClock } from '../../src/base/clock.ts'
import { createAudit } from '../../src/engine/auth/audit.ts'
import { createEntrance } from '../../src/engine/auth/auth.ts'
import { createDenials } from '../../src/engine/auth/denials.ts'
import { Buckets } from '../../src/surfaces/http/rate-limit.ts'
import { makeParts } from '../engine/store.ts'
import { HandClock } from '../engine/test-clock.ts'
import { listening, token } from '../http-peer.ts'

test('a bucket gives its burst at once and then so many per second, to each key its own', () => {
  const clock = new HandClock()
  const buckets = new Buckets({ burst: 3, perSecond: 2 }, clock)
  const take = (key: string, times: number) => Array.from({ length: times }, () => buckets.take(key))
  expect(take('a', 4)).toEqual([0, 0, 0, 1])
  expect(take('b', 1)).toEqual([0])
  clock.advance(500)
  expect(take('a', 2)).toEqual([0, 1])
  // A wall clock that jumps fills nothing.
  clock.jump(3_600_000)
  expect(take('a', 1)).toEqual([1])
  clock.advance(60_000)
  expect(take('a', 4)).toEqual([0, 0, 0, 1])
  const slow = new Buckets({ burst: 1, perSecond: 1 / 6 }, clock)
  expect([slow.take('a'), slow.take('a')]).toEqual([0, 6])
})

test('a bucket forgets keys rather than grow without end', () => {
  const buckets = new Buckets({ burst: 1, perSecond: 0.001 }, new HandClock())
  for (let n = 0; n < 20_000; n++) expect(buckets.take(`key ${n}`)).toBe(0)
  expect(buckets.take('key 19999')).toBeGreaterThan(0)
  expect(buckets.take('key 0')).toBe(0)
})

test('a token that asks too often is told to wait, others and the owner are not, and guesses are counted by peer', async () => {
  const { db, log } = await makeParts()
  const clock = new HandClock()
  const audit = createAudit({ db, log, clock })
  const entrance = createEntrance({ db, log, audit, clock, homeToken: token })
  const denials = createDenials({ audit, clock, log })
  const { url, surface } = await listening({ entrance, audit, clock, onDenied: denials.note, rates: undefined })
  onTestFinished(() => surface.stop())
  const [busy, calm] = [await entrance.createToken({}, { by: 'test' }), await entrance.createToken({}, { by: 'test' })]
  const ask = async (shown: string) => fetch(`${url}/api/v1/tasks`, { headers: { authorization: `Bearer ${shown}` } })
  const statuses = async (shown: string, times: number) => {
    const all = new Map<number, number>()
    for (let n = 0; n < times; n++) {
      const { status } = await ask(shown)
      all.set(status, (all.get(status) ?? 0) + 1)
    }
    return Object.fromEntries(all)
  }
  expect(await statuses(busy.token, 210)).toEqual({ 200: 200, 429: 10 })
  const refused = await ask(busy.token)
  expect([refused.status, refused.headers.get('retry-after')]).toEqual([429, '1'])
  expect(await refused.json()).toMatchObject({ code: 'limited', detail: 'This token asks more often than it may; wait 1 s.' })
  expect(await statuses(calm.token, 5)).toEqual({ 200: 5 })
  expect(await statuses(token, 300)).toEqual({ 200: 300 })
  clock.advance(1_000)
  expect(await statuses(busy.token, 60)).toEqual({ 200: 50, 429: 10 })

  expect(await statuses(`pawl_${'x'.repeat(43)}`, 15)).toEqual({ 401: 10, 429: 5 })
  expect(await statuses(calm.token, 5)).toEqual({ 200: 5 })
  clock.advance(6_000)
  expect(await statuses('wrong', 3)).toEqual({ 401: 1, 429: 2 })

  await denials.stop()
  const denied = (await audit.list({ limit: 10, action: 'denied' })).items
  expect(denied.map(({ actor, via, subject, detail }) => [actor, via, subject, detail.why, detail.times])).toEqual([
    ['stranger', '127.0.0.1', '/api/v1/tasks', 'token', 17],
    ['stranger', '127.0.0.1', '/api/v1/tasks', 'token', 1],
  ])
  expect(await createAudit({ db, log, clock: systemClock }).verify()).toMatchObject({ isWhole: true })
})
