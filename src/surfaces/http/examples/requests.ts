import { blocked, prompt, run, task, workspace } from './nouns.ts'
import type { Json } from './sample.ts'

/** Requests as a person would send them, where the noun itself is not the request. */
export const requests: Readonly<Record<string, Json>> = {
  'POST /api/v1/tasks': { prompt, agent: 'demo', workspace, tags: ['calendar'], budget: { usd: 5 }, review: true },
  'POST /api/v1/tasks/check': { prompt, agent: 'demo' },
  'POST /api/v1/tasks/batch': {
    tasks: [
      { name: 'fix', prompt },
      { name: 'notes', prompt: 'Write the release notes of what was changed.', dependsOn: ['fix'], acceptPartial: true },
    ],
  },
  'PATCH /api/v1/tasks/{id}': { name: 'Correct the leap years', priority: 5, tags: ['calendar', 'night'] },
  'POST /api/v1/tasks/{id}/cancel': { now: false },
  'POST /api/v1/tasks/{id}/retry': { fresh: false, budget: { usd: 10 } },
  'POST /api/v1/tasks/{id}/reject': { comment: 'Right, but 2100 is missing from the test.' },
  'POST /api/v1/tasks/elaborate': { text: 'The login page is slow, make it fast', workspace },
  'POST /api/v1/tasks/read': { text: `tasks:\n  - name: fix\n    prompt: ${JSON.stringify(prompt)}\n`, folder: workspace },
  'POST /api/v1/tasks/bulk': { action: 'edit', tasks: [task, blocked], priority: 10, addTags: ['night'] },
  'POST /api/v1/schedules': {
    name: 'flaky-tests',
    when: { kind: 'cron', expression: '0 3 * * *', timeZone: 'Europe/Berlin' },
    task: { prompt: 'Look for flaky tests and mend one.', agent: 'demo', workspace },
    overlap: 'skip',
  },
  'PATCH /api/v1/schedules/{id}': { when: { kind: 'every', everyMs: 7_200_000 }, task: { budget: { usd: 2 } }, overlap: 'queue' },
  'POST /api/v1/schedules/preview': { when: '0 7 * * 1-5', timeZone: 'Europe/Berlin' },
  'POST /api/v1/questions/{id}/answer': { answer: 'Read both' },
  'POST /api/v1/sessions/adopt': { vendorId: 'cacab61c-35b3-4069-bdf9-696c74d19404', agent: 'demo', workspace },
  'POST /api/v1/sessions/{id}/stop': { now: false },
  'POST /api/v1/limits/clear': { agent: 'demo' },
  'POST /api/v1/quarantine/{run}/restore': { path: '.git/hooks/pre-commit' },
  'POST /api/v1/recordings/{run}/replay': { until: 7 },
  'POST /api/v1/recordings/{run}/fork': { at: 7, model: 'large', budget: { usd: 2 } },
  'POST /api/v1/notifications/retry': { target: 'chat' },
  'POST /api/v1/notification-tests': { target: 'chat' },
  'POST /api/v1/push': {
    endpoint: 'https://push.example.org/send/1m7hre9g',
    keys: {
      p256dh: 'BAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAAA',
      auth: 'AAAAAAAAAAAAAAAAAAAAAA',
    },
    events: ['question.asked', 'task.failed'],
    label: 'Firefox on the phone',
  },
  'POST /api/v1/backups': { withWorkspaces: false, withLogs: true },
  'POST /api/v1/uploads': '(the bytes of the file)',
  'POST /api/v1/stop-all': { reason: 'the model does strange things' },
  'POST /api/v1/sign-in-codes': {},
  'POST /sign-in': { code: 'pawl_x3V9', to: '/tasks' },
  'POST /api/v1/import': `{"kind":"pawl-export","version":1,"at":"2026-01-12T08:51:12.958Z"}\n{"kind":"task","row":{"id":"${task}"}}\n{"kind":"run","row":{"id":"${run}"}}\n`,
}
