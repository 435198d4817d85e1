import { expect, it } from 'vitest'
import type { LastAction } from '../../store/actions.ts'
import { currentAction } from './current-action.ts'

const called = (tool: string, input: unknown): LastAction => ({
  ...{ type: 'agent.tool_called', text: null, tool },
  input: typeof input === 'string' ? input : JSON.stringify(input),
})

it('a call is told by what says most of it, in one line', () => {
  const cases: [LastAction, string | null][] = [
    [called('Bash', { description: 'runs it', command: 'npm  test\n--all' }), 'Bash: npm test --all'],
    [called('Edit', { old: 'x', file_path: '/srv/a.ts' }), 'Edit: /srv/a.ts'],
    [called('shell', { command: ['ls', '-l'] }), 'shell: ls -l'],
    [called('Todo', { items: [] }), 'Todo'],
    [called('raw', 'some text'), 'raw: some text'],
    [called('Write', `{"content":"${'x'.repeat(10)}","path":"/srv/b.ts","more":"cut`), 'Write: /srv/b.ts'],
    [called('Bash', { command: 'a'.repeat(300) }), `Bash: ${'a'.repeat(73)}…`],
    [{ type: 'agent.message', text: '## I look\nat it', tool: null, input: null }, 'I look'],
    [{ type: 'agent.message', text: '```', tool: null, input: null }, null],
    [{ type: 'check.started', text: 'npm test', tool: null, input: null }, 'checks: npm test'],
  ]
  for (const [action, line] of cases) expect(currentAction(action), action.input ?? '').toBe(line)
})
