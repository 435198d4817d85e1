import { blocked, nouns, prompt, question, run, session, task, workspace } from './nouns.ts'
import type { Json } from './sample.ts'

type Fields = { readonly [key: string]: Json }
const noun = (name: string, changed: Fields = {}): Json => ({ ...(nouns[name] as Fields), ...changed })

/** As a task is before anybody has begun it. */
const waiting: Fields = {
  state: 'queued',
  result: null,
  endedAt: null,
  proof: 'none',
  runs: [],
  cost: { usd: 0, totalUsd: 0, known: 'reported' },
}
const queued = noun('Task', waiting)
const again = noun('Task', { ...waiting, runs: (nouns.Task as { runs: Json }).runs })
const events = [
  { seq: 1, at: '2026-01-12T08:43:57.862Z', task, type: 'task.queued', data: { agent: 'coder', priority: 0, workspace } },
  {
    seq: 5,
    at: '2026-01-12T08:44:02.223Z',
    task,
    run,
    type: 'agent.message',
    data: { text: 'I look for what decides about leap years.' },
  },
]
const stream = (id: (seq: number) => string) =>
  events.map((event) => `id: ${id(event.seq)}\ndata: ${JSON.stringify(event)}\n\n`).join('')

/** What an operation answers where the noun alone does not tell it: by the operation, its status and, if it has several, the type. */
export const answers: Readonly<Record<string, Json>> = {
  'POST /api/v1/tasks 201': queued,
  'POST /api/v1/tasks/batch 201': {
    items: [
      queued,
      noun('Task', {
        ...waiting,
        id: blocked,
        name: 'notes',
        prompt: 'Write the release notes of what was changed.',
        dependsOn: [{ id: task, name: 'fix', state: 'queued' }],
      }),
    ],
  },
  'POST /api/v1/tasks/elaborate 202': noun('Task', {
    ...waiting,
    name: 'Elaborate: The login page is slow',
    prompt: 'The login page is slow, make it fast',
  }),
  'PATCH /api/v1/tasks/{id} 200': noun('Task', { ...waiting, priority: 5, tags: ['calendar', 'night'] }),
  'POST /api/v1/tasks/{id}/cancel 200': noun('Task', {
    state: 'cancelled',
    reason: { kind: 'asked', detail: 'ada' },
    result: null,
    proof: 'none',
  }),
  'POST /api/v1/tasks/{id}/retry 200': again,
  'POST /api/v1/tasks/{id}/reject 200': again,
  'POST /api/v1/tasks/{id}/resume 200': again,
  'GET /api/v1/tasks/{id}/events 200 text/event-stream': stream(String),
  'GET /api/v1/events 200 text/event-stream': stream((seq) => `812-${seq}`),
  'GET /api/v1/tasks/{id}/events 200 application/json': { items: events, next: null },
  'GET /api/v1/events 200 application/json': { items: events, next: null },
  'DELETE /api/v1/tasks/{id} 200': { removed: [task] },
  'GET /api/v1/tasks/{id}/diff 200':
    'diff --git a/src/calendar.ts b/src/calendar.ts\n--- a/src/calendar.ts\n+++ b/src/calendar.ts\n@@ -1 +1,2 @@\n-export const isLeap = (year: number) => year % 4 === 0\n+/** Every fourth year, but of the centuries only every fourth. */\n+export const isLeap = (year: number) => (year % 4 === 0 && year % 100 !== 0) || year % 400 === 0\n',
  'POST /api/v1/tasks/read 200': { tasks: [{ name: 'fix', prompt, workspace }], schedules: [] },
  'POST /api/v1/schedules/preview 200': {
    when: { kind: 'cron', expression: '0 7 * * 1-5', timeZone: 'Europe/Berlin' },
    says: '0 7 * * 1-5 Europe/Berlin',
    next: [{ at: '2026-01-13T06:00:00.000Z', local: '2026-01-13 07:00 +01:00 Europe/Berlin' }],
  },
  'PATCH /api/v1/schedules/{id} 200': noun('Schedule', {
    when: { kind: 'every', everyMs: 7_200_000 },
    says: 'every 2h',
    overlap: 'queue',
  }),
  'POST /api/v1/schedules/{id}/pause 200': noun('Schedule', { state: 'paused', nextAt: null, next: [] }),
  'POST /api/v1/questions/{id}/answer 200': noun('Question', {
    id: question,
    state: 'answered',
    answer: 'Read both',
    answeredAt: '2026-01-12T09:02:11.004Z',
    answeredBy: 'ada',
  }),
  'POST /api/v1/sessions/adopt 201': noun('Session', {
    taskCount: 0,
    lastTask: null,
    tasks: [],
    costUsd: null,
    title: null,
    archivedBytes: 0,
  }),
  'POST /api/v1/sessions/{id}/stop 200': { session, stopped: null },
  'POST /api/v1/quarantine/{run}/restore 200': { restored: ['.git/hooks/pre-commit'] },
  'DELETE /api/v1/recordings/{run} 200': { removed: run },
  'DELETE /api/v1/users/{name} 200': { removed: 'ada' },
  'DELETE /api/v1/secrets/{scope}/{name} 200': { removed: 'NPM_TOKEN' },
  'POST /api/v1/notifications/retry 200': { retried: ['n_1m7hre8f5p2s6u9a3b'] },
  'POST /api/v1/notifications/{id}/retry 200': { retried: ['n_1m7hre8f5p2s6u9a3b'] },
  'DELETE /api/v1/tokens/{id} 200': noun('Token', { revokedAt: '2026-01-12T09:02:11.004Z' }),
  'POST /api/v1/stop-all 200': { halt: nouns.Halt!, stopping: [task] },
  'GET /api/v1/backups 200': { items: [nouns.Backup!], next: null, underWay: null },
  'GET /api/v1/export 200': `{"kind":"pawl-export","version":1,"at":"2026-01-12T08:51:12.958Z","closes":true}\n{"kind":"task","row":{"id":"${task}"}}\n{"kind":"end","row":{"id":"${task}"}}\n{"kind":"pawl-export-end","lines":3}\n`,
  'GET /metrics 200':
    '# HELP pawl_tasks Tasks by state.\n# TYPE pawl_tasks gauge\npawl_tasks{state="running"} 1\npawl_tasks{state="completed"} 4\n',
  'GET /healthz 200': 'ok',
  'GET /readyz 200': { ready: true },
  'POST /api/v1/tasks/check 200': { ok: true },
  'POST /api/v1/resume 200': { resumed: true },
  'GET /api/v1/tasks/{id}/runs/{run}/log 200 text/plain':
    '{"type":"system","subtype":"init","session_id":"cacab61c-35b3-4069-bdf9-696c74d19404"}\n',
  'GET /api/v1/tasks/{id}/runs/{run}/log 206': '{"type":"system","subtype":"init"',
  'GET /api/v1/tasks/{id}/artifacts/{artifact} 200': '<!doctype html><title>Coverage</title>…',
  'GET /api/v1/tasks/{id}/artifacts/{artifact} 206': '<!doctype html>',
  'GET /api/v1/recordings/{run}/export 200': '{"kind":"pawl-recording","version":1}\n…',
  'GET /api/v1/push 200': {
    publicKey: 'BCW8wWzSM1Pe4ZcQGvu6Q1xQiluTH5PqhHvnFd3v3_o-kBabI-qFW1Wz0m2WHMA8iu7h3a1IHaYCTcngRHYDtpU',
    events: ['question.asked', 'task.failed'],
    items: [nouns.Push!],
  },
  'GET /api/v1/backups/{name} 200': '(the bytes of the file)',
  'GET /api/v1/backups/{name} 206': '(some of the bytes)',
  'POST /sign-in 403': '<!doctype html>…',
  'GET /open 200': '<!doctype html>…',
  'GET /open 403': '<!doctype html>…',
  'POST /sign-out 200': '<!doctype html>…',
  'GET /sign-in 200': '<!doctype html>…',
  'POST /sign-in 200': '<!doctype html>…',
  'GET /docs 200': '<!doctype html>…',
  'GET /api/v1/openapi.json 200': { openapi: '3.1.0', info: { title: 'Pawl', version: '0.1.0' }, paths: {} },
}
