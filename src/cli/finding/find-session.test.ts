import { expect, test } from 'vitest'
import type { SessionSummary } from '../../domain/view/view.ts'
import { findSession } from './find-session.ts'

const sessions = ['s_00000000000000aaaa', 's_00000000000000bcde', 's_00000000000001aaaa'].map(
  (id) => ({ id, agent: 'demo', updatedAt: '2026-01-01T00:00:00.000Z' }) as SessionSummary,
)
const runtime = { listSessions: async () => ({ items: sessions, next: null }) }

test('a session is named by its id, a unique end of it, or "last"', async () => {
  expect(await findSession(runtime, 's_zzzzzzzzzzzzzzzzzz')).toBe('s_zzzzzzzzzzzzzzzzzz')
  expect(await findSession(runtime, 'bcde')).toBe(sessions[1]!.id)
  expect(await findSession(runtime, 'last')).toBe(sessions[0]!.id)
})

test('an end that fits several is refused with the candidates', async () => {
  await expect(findSession(runtime, 'aaaa')).rejects.toMatchObject({
    code: 'invalid',
    message: expect.stringMatching(/fits 2 sessions; which one\?\n {2}s_00000000000000aaaa .*\n {2}s_00000000000001aaaa /),
  })
})

test.each([
  ['zzzz', 'not_found'],
  ['abc', 'invalid'],
  ['../../etc', 'invalid'],
])('%s is refused as %s', async (named, code) => {
  await expect(findSession(runtime, named)).rejects.toMatchObject({ code })
})
