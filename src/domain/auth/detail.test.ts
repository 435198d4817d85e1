import { expect, it } from 'vitest'
import type { Event } from '../event/event.ts'
import type { NotificationView } from '../notification/notification.ts'
import type { ScheduleView } from '../schedule/schedule.ts'
import type { LimitView } from '../view/limit.ts'
import type { HealthView } from '../view/view.ts'
import {
  eventWithoutDetail,
  healthWithoutDetail,
  limitWithoutDetail,
  notificationWithoutDetail,
  scheduleWithoutDetail,
  seesDetail,
  withoutDetail,
} from './detail.ts'
import { standings } from './role.ts'

it('operators and admins see the detail, and nobody else does', () => {
  expect(standings.filter((standing) => seesDetail(standing))).toEqual(['operator', 'admin'])
  expect(seesDetail(undefined)).toBe(false)
})

const task = {
  id: 'task_1',
  reason: { kind: 'auth_failed', detail: '401 from https://inside.example/v1 for key ending 7f' },
  runs: [{ id: 'run_1', category: 'auth_failed', message: '401 from https://inside.example/v1' }],
  result: { text: 'what it said' },
} as unknown as Parameters<typeof withoutDetail>[0]

it('a reader is told the kind of trouble and where to look it up, and keeps the answer', () => {
  const shown = withoutDetail(task)
  expect(JSON.stringify(shown)).not.toContain('inside.example')
  expect(shown.reason).toEqual({
    kind: 'auth_failed',
    detail: 'The agent is not logged in, or its key was refused. (reference task_1)',
  })
  expect(shown.runs?.[0]?.message).toContain('(reference run_1)')
  expect(shown.result).toEqual(task.result)
})

it('a task that is tried again later does not tell what the program said', () => {
  const waiting = withoutDetail({ ...task, reason: { kind: 'backoff', detail: '502 from https://inside.example/v1' } })
  expect(waiting.reason).toEqual({ kind: 'backoff', detail: 'Something went wrong. (reference task_1)' })
})

it('a reader learns that a worker has died, and not on which machine', () => {
  const suspect = { since: '2030-01-01T00:00:00.000Z', host: 'inside.example', lastedMs: 1, deaths: 1, lostAlone: 1 }
  const reason = { kind: 'worker_lost', detail: 'The worker died 2 times, the last time on inside.example.' }
  const shown = withoutDetail({ ...task, reason, suspect })
  expect(JSON.stringify(shown)).not.toContain('inside.example')
  expect(shown).toMatchObject({ reason: { kind: 'worker_lost' }, suspect: { lostAlone: 1 } })
})

it('lists of limits, notifications and schedules keep the machine to themselves too', () => {
  const secret = 'SECRET PLACE'
  const tick = { state: 'failed', detail: secret }
  const schedule = { id: 's_1', lastTick: tick, health: { healthy: false, failedInARow: 1, detail: secret }, ticks: [tick] }
  const shown = [
    limitWithoutDetail({ account: secret, agents: ['a'], kind: 'rate_limited', why: secret } as unknown as LimitView),
    notificationWithoutDetail({ id: 'n_1', lastError: secret } as unknown as NotificationView),
    scheduleWithoutDetail(schedule as unknown as ScheduleView),
    healthWithoutDetail({
      schedules: { unhealthy: [{ id: 's_1', detail: secret }], refused: [{ name: 'x', source: secret, detail: secret }] },
      agents: [{ agent: 'a', category: 'auth_failed', detail: secret, todo: secret, lastTask: 't_1' }],
    } as unknown as HealthView),
  ]
  expect(JSON.stringify(shown)).not.toContain('SECRET')
  expect(shown[0]).toMatchObject({ account: 'a', why: 'The model provider asked to slow down.' })
  expect(
    scheduleWithoutDetail({ ...schedule, lastTick: null, health: { detail: null } } as unknown as ScheduleView),
  ).toMatchObject({
    lastTick: null,
    health: { detail: null },
  })
})

it('what a task waits for is no detail', () => {
  const waiting = { ...task, reason: { kind: 'question', detail: 'question_1' } }
  expect(withoutDetail(waiting).reason).toEqual(waiting.reason)
})

it('events keep their place and lose what the program complained of', () => {
  const base = { seq: 1, at: '2030-01-01T00:00:00.000Z', task: 'task_1', run: 'run_1' }
  const said = [
    { ...base, type: 'agent.stderr', data: { text: 'SECRET PLACE' } },
    { ...base, type: 'run.noted', data: { code: 'workspace_kept', detail: 'SECRET PLACE' } },
    { ...base, type: 'run.ended', data: { outcome: 'failed', category: 'network', message: 'SECRET PLACE', durationMs: 1 } },
    { ...base, type: 'task.failed', data: { category: 'network', message: 'SECRET PLACE' } },
    { ...base, type: 'agent.unknown', data: { raw: 'SECRET PLACE' } },
    { ...base, type: 'task.parked', data: { kind: 'backoff', until: base.at, detail: 'SECRET PLACE' } },
    { ...base, type: 'task.parked', data: { kind: 'usage_limit', until: base.at, detail: 'SECRET PLACE' } },
    { ...base, type: 'task.requeued', data: { why: 'retry', detail: 'SECRET PLACE' } },
    { ...base, type: 'hook.ran', data: { name: 'mail', exitCode: 1, output: 'SECRET PLACE', failure: 'SECRET PLACE' } },
  ] as Event[]
  const shown = said.map(eventWithoutDetail)
  expect(JSON.stringify(shown)).not.toContain('SECRET')
  expect(shown.map(({ type, seq }) => [type, seq])).toEqual(said.map(({ type, seq }) => [type, seq]))
  const message = { ...base, type: 'agent.message', data: { text: 'hello' } } as Event
  expect(eventWithoutDetail(message)).toBe(message)
})
