import { expect, test } from 'vitest'
import { fakeRuntime } from '../../../../test/fake-runtime.ts'
import { ask, surfaceOver } from '../../../../test/http-peer.ts'

const api = '/api/v1/schedules'
const wanted = {
  name: 'morning',
  when: { kind: 'cron', expression: '0 7 * * 1-5', timeZone: 'Europe/Berlin' },
  task: { prompt: 'look' },
}

test('a schedule is made, shown, changed, paused, resumed, run and removed by name', async () => {
  const runtime = fakeRuntime()
  const surface = surfaceOver(runtime)
  const made = await ask(surface, 'POST', api, { json: wanted })
  expect([made.status, made.json.name]).toEqual([201, 'morning'])
  expect((await ask(surface, 'GET', api)).json).toMatchObject({ items: [{ name: 'morning' }], next: null })
  expect((await ask(surface, 'GET', `${api}/morning`)).status).toBe(200)
  expect((await ask(surface, 'PATCH', `${api}/morning`, { json: { overlap: 'queue', task: { prompt: 'other' } } })).status).toBe(
    200,
  )
  for (const verb of ['pause', 'resume', 'run'])
    expect((await ask(surface, 'POST', `${api}/morning/${verb}`, { json: {} })).status).toBe(200)
  expect((await ask(surface, 'DELETE', `${api}/morning`)).status).toBe(204)
  expect((await ask(surface, 'GET', `${api}/morning`)).status).toBe(404)
  const caller = expect.objectContaining({ user: 'local' })
  const whole = { ...wanted, session: 'new', overlap: 'skip', catchUp: 'one', jitterMs: 0 }
  expect(runtime.calls).toEqual([
    ['createSchedule', whole, caller],
    ['listSchedules'],
    ['getSchedule', 'morning'],
    ['changeSchedule', 'morning', { overlap: 'queue', task: { prompt: 'other' } }, caller],
    ['pauseSchedule', 'morning', caller],
    ['resumeSchedule', 'morning', caller],
    ['runSchedule', 'morning', caller],
    ['removeSchedule', 'morning', caller],
    ['getSchedule', 'morning'],
  ])
})

test.each([
  [{ ...wanted, when: { ...wanted.when, expression: '0 0 30 2 *' } }, /never comes/],
  [{ ...wanted, when: { ...wanted.when, expression: '0 0 7 * * *' } }, /without seconds/],
  [{ ...wanted, when: { ...wanted.when, timeZone: 'Mars/Olympus' } }, /no time zone/],
  [{ ...wanted, overlaps: 'queue' }, /did you mean .{1,2}overlap/],
  [{ ...wanted, task: { prompt: 'x', attended: true } }, /attended/],
  [{ ...wanted, task: { prompt: ' ' } }, /prompt is empty/],
])('what cannot be is refused with a sentence: %j', async (body, sentence) => {
  const runtime = fakeRuntime()
  const answer = await ask(surfaceOver(runtime), 'POST', api, { json: body })
  expect(answer.status).toBe(400)
  expect(JSON.stringify(answer.json)).toMatch(sentence)
  expect(runtime.calls).toEqual([])
})
