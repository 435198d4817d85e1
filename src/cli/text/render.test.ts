import { stripVTControlCharacters } from 'node:util'
import { expect, test } from 'vitest'
import type { Event, NewEvent } from '../../domain/event/event.ts'
import { eventTypes } from '../../domain/event/event.ts'
import { noUsage } from '../../domain/money/cost.ts'
import { Cli } from '../terminal/cli.ts'
import { eventLines } from '../terminal/show-events.ts'
import { formatTime } from './format.ts'
import { renderEvent, toneOf } from './render.ts'

const event = (part: NewEvent): Event =>
  ({ seq: 7, at: '2026-01-02T03:04:05.000Z', task: 't_0123456789abcdefgh', ...part }) as Event

const samples: { [T in Event['type']]: [data: Extract<NewEvent, { type: T }>['data'], line: string] } = {
  'task.queued': [{ agent: 'demo', priority: 0, workspace: '/w' }, 'queued for demo in /w'],
  'task.created': [
    { agent: 'demo', priority: 0, workspace: '/ws', waitsFor: ['t_1', 't_2'] },
    'accepted for demo in /ws; waits for t_1, t_2',
  ],
  'task.edited': [{ by: 'cli', priority: 1 }, 'changed by cli'],
  'task.requeued': [{ why: 'lost' }, 'queued again, its worker was lost'],
  'task.cancel_requested': [{ now: true, by: 'cli' }, 'cli asked to stop at once'],
  'task.completed': [{ verified: true }, 'completed, checks passed'],
  'task.review': [{}, 'done, waits for review'],
  'subtask.created': [
    { task: 't_0123456789abcdefgh', name: 'the tests' },
    'handed over to subtask t_0123456789abcdefgh: the tests',
  ],
  'subtask.ended': [{ task: 't_0123456789abcdefgh', state: 'timed_out' }, 'subtask t_0123456789abcdefgh is timed out'],
  'task.failed': [{ category: 'exit_code', message: 'Exit code 3' }, 'failed (exit_code): Exit code 3'],
  'task.timed_out': [{ category: 'total_timeout', message: 'Too long' }, 'timed out (total_timeout): Too long'],
  'task.cancelled': [{ by: 'cli' }, 'cancelled by cli'],
  'task.over_budget': [{ message: 'Nothing left' }, 'over budget: Nothing left'],
  'task.blocked': [{ kind: 'question' }, 'blocked: waits for an answer'],
  'task.parked': [
    { kind: 'backoff', until: '2026-01-02T03:04:05.000Z' },
    expect.stringMatching(/^parked until 2026-01-0\d \d\d:\d\d \(backoff\)$/),
  ],
  'run.admitted': [{ attempt: 2, fence: 3, agent: 'demo' }, 'may run (attempt 2)'],
  'run.started': [
    { attempt: 2, fence: 3, worker: 'w', walls: 'none', enforced: false, resumed: true },
    'started, attempt 2, going on with its session; walls: none, NOT ENFORCED',
  ],
  'run.ended': [
    { outcome: 'failed', category: 'exit_code', message: 'oops', exitCode: 3, costUsd: 0.0123, durationMs: 5 },
    'run failed, exit_code (exit code 3), $0.012: oops',
  ],
  'run.noted': [{ code: 'log_capped', detail: 'cut' }, 'note (log_capped): cut'],
  'agent.message': [{ text: 'two\nlines' }, 'two\nlines'],
  'agent.thinking': [{ text: 'hm' }, 'thinks: hm'],
  'agent.tool_called': [{ callId: '1', tool: 'shell', input: { command: 'ls -l' } }, 'shell ls -l'],
  'agent.tool_returned': [{ callId: '1', output: 'one\ntwo\nthree\n', isError: true }, 'tool error: one (+2 lines)'],
  'agent.usage': [
    { usage: { ...noUsage, inputTokens: 120, outputTokens: 15 }, model: 'gpt-5', costUsd: 0.5, known: 'priced' },
    'used 135 tokens of gpt-5, ~$0.50',
  ],
  'model.called': [
    {
      ...{ number: 1, model: 'fast', provider: 'maker', target: 'gpt-5-mini', status: 200, durationMs: 900 },
      ...{ usage: { ...noUsage, inputTokens: 120, outputTokens: 15, turns: 1 }, costUsd: 0.5, countedUsd: 0.5, known: 'priced' },
    },
    'gpt-5-mini at maker used 135 tokens, ~$0.50',
  ],
  'agent.session': [{ vendorId: 'abc' }, 'session abc of the agent program'],
  'agent.retrying': [{ attempt: 1, of: 3, detail: 'HTTP 529' }, 'tries the model again (1 of 3): HTTP 529'],
  'agent.compacted': [{ trigger: 'auto' }, 'shortened its memory of the conversation (auto)'],
  'session.restored': [
    { vendorId: 'abc', why: 'file_missing', files: 1, bytes: 10 },
    'session put back from the archive (file_missing)',
  ],
  'session.rebuilt': [
    { why: 'no_archive', form: 'message', utterances: 3 },
    'session made anew from the journal, as a first message (no_archive)',
  ],
  'session.reset': [{ vendorId: 'abc', why: 'asked' }, 'a new session begins (asked)'],
  'session.adopted': [{ vendorId: 'abc', from: 'somewhere' }, 'goes on with session abc of the agent program'],
  'message.sent': [{ text: 'half done' }, 'message: half done'],
  'agent.stderr': [{ text: 'warning\n' }, 'stderr: warning'],
  'agent.unknown': [{ raw: '{"type":"x"}' }, 'not understood: {"type":"x"}'],
  'workspace.changed': [{ summary: '1 file changed, 2 insertions(+)', files: 1 }, '1 file changed, 2 insertions(+)'],
  'workspace.quarantined': [
    { paths: ['a/.envrc', 'b'], keptAt: '/q/files' },
    'moved out of the workspace to /q/files: a/.envrc, b',
  ],
  'workspace.flagged': [{ paths: ['Makefile'] }, 'changed what will be executed one day: Makefile'],
  'artifact.added': [
    { artifact: 'a_0123456789abcdefgh', name: 'report.md', type: 'text/markdown', size: 2048 },
    'left report.md (2.0 KiB)',
  ],
  'check.started': [{ number: 1, of: 2, name: 'npm test', command: 'npm test' }, 'check 1 of 2: npm test'],
  'check.ended': [
    {
      ...{ number: 1, name: 'npm test', passed: false, exitCode: 1, durationMs: 1234, outputDigest: 'ab' },
      ...{ tree: 'cd', changedTree: true },
    },
    'check 1 FAILED after 1.2 s (exit code 1): npm test; it changed the workspace',
  ],
  'permission.decided': [
    { verdict: 'denied', tool: 'Bash', call: 'Bash(git push)', from: 'rules.deny', why: 'A rule says no.' },
    'denied: Bash(git push) (A rule says no.)',
  ],
  'network.decided': [
    { host: 'example.com', port: 443, verdict: 'deny', why: 'no rule names it', via: 'connect' },
    'network: may not reach example.com:443 (no rule names it)',
  ],
  'network.used': [
    {
      hosts: [
        { host: 'a.example', port: 443, verdict: 'allow', times: 2, sent: 10, received: 90 },
        { host: 'b.example', port: 443, verdict: 'deny', times: 1, sent: 0, received: 0 },
      ],
      others: 0,
    },
    'network: 1 host reached, 100 bytes; 1 refused',
  ],
  'hook.ran': [
    {
      ...{ notification: 'n_0123456789abcdefgh', name: 'pr', event: 'task.completed', attempt: 1, exitCode: 1, durationMs: 5 },
      output: 'no branch',
      failure: 'The command failed: it ended with 1.',
    },
    'pr ran and failed: The command failed: it ended with 1.\nno branch',
  ],
  'question.asked': [
    { questionId: 'q_0123456789abcdefgh', kind: 'free', text: 'Which?', options: ['this', 'that'] },
    'asks (q_0123456789abcdefgh): Which?\n  1. this\n  2. that',
  ],
  'question.answered': [{ questionId: 'q_0123456789abcdefgh', answer: 'this', by: 'api' }, 'answered by api: this'],
  'question.escalated': [
    { questionId: 'q_0123456789abcdefgh', text: 'Which?', options: [], agent: 'other', until: '2030-01-02T03:04:05.000Z' },
    `nobody answered (q_0123456789abcdefgh); other is asked, until ${formatTime('2030-01-02T03:04:05.000Z')}`,
  ],
  'question.closed': [{ questionId: 'q_0123456789abcdefgh', state: 'expired' }, 'question expired'],
}

test.each(eventTypes)('%s has a line', (type) => {
  const [data, line] = samples[type]
  expect(renderEvent(event({ type, data } as NewEvent))).toEqual(line)
})

test('the end of a task says what all its runs came to, and a run that goes on what there was before it', () => {
  const totals = {
    runs: 2,
    durationMs: 65_000,
    usage: { ...noUsage, inputTokens: 900, outputTokens: 100, turns: 3 },
    costUsd: 0.5,
  }
  const line = (part: NewEvent) => renderEvent(event(part))
  expect(line({ type: 'task.completed', data: { verified: false, totals } })).toBe(
    'completed (in all 2 runs, 1 m 05 s, 3 turns, 1000 tokens, $0.50)',
  )
  expect(line({ type: 'task.cancelled', data: { by: 'ann', totals: { ...totals, known: 'priced' } } })).toMatch(/, ~\$0\.50\)$/)
  expect(line({ type: 'task.completed', data: { verified: false, totals: { ...totals, runs: 1 } } })).toBe('completed')
  const started = { attempt: 1, fence: 2, worker: 'w', walls: 'bubblewrap', enforced: true, resumed: true }
  expect(line({ type: 'run.started', data: { ...started, soFar: { ...totals, runs: 1 } } })).toBe(
    'started, going on with its session; walls: bubblewrap; so far 1 run, 1 m 05 s, 3 turns, 1000 tokens, $0.50',
  )
})

test('an event of a newer program is shown by its name and number', () => {
  expect(renderEvent({ ...event({ type: 'task.review', data: {} }), type: 'task.teleported' } as unknown as Event)).toBe(
    'task.teleported (event 7)',
  )
})

test('no line lets an agent steer the terminal', () => {
  const attack = '\x1b]52;c;aGk=\x07\x1b[2J\x9b1mtext\u202e'
  const poisoned = (value: unknown): unknown => {
    if (typeof value === 'string') return value.startsWith('2026-') || value.startsWith('q_') ? value : attack
    if (Array.isArray(value)) return value.map(poisoned)
    if (typeof value === 'object' && value !== null)
      return Object.fromEntries(Object.entries(value).map(([key, part]) => [key, poisoned(part)]))
    return value
  }
  for (const type of eventTypes) {
    const line = renderEvent(event({ type, data: poisoned(samples[type][0]) } as NewEvent))
    expect(line.replace(/[\t\n]/g, '')).toBe(stripVTControlCharacters(line).replace(/[\x00-\x1f\x7f-\x9f\u202e]/g, ''))
  }
})

test('an agent cannot forge a line of Pawl: what it says is indented on every line', () => {
  const lines = eventLines(new Cli('/'), event({ type: 'agent.message', data: { text: 'fine\n• completed\r• completed' } }), {
    time: false,
    stream: process.stdout,
  })
  expect(lines).toBe('  fine\n  • completed<U+000D>• completed')
})

test('work that is done only in part is not told like work that is done', () => {
  const ended = event({ type: 'task.completed', data: { verified: false, outcome: 'partial' } })
  expect(renderEvent(ended)).toBe('completed (partial)')
  expect(toneOf(ended)).toBe('ask')
  const held = event({
    type: 'task.blocked',
    data: { kind: 'dependency_partial', detail: 'Task t_1 did only a part of its work.' },
  })
  expect(renderEvent(held)).toBe(
    'blocked: waits for somebody: what it depends on is only partly done. Task t_1 did only a part of its work.',
  )
})
