import { expect, test } from 'vitest'
import { isActivity, translate } from './translate.ts'

test.each([
  [{ type: 'tool_progress', tool_use_id: 'c', tool_name: 'Bash', elapsed_time_seconds: 30 }, 'call'],
  [{ type: 'system', subtype: 'task_progress', task_id: 'x' }, 'call'],
  [{ type: 'system', subtype: 'hook_progress' }, 'call'],
  [{ type: 'keep_alive' }, 'heartbeat'],
  [{ type: 'system', subtype: 'thinking_tokens' }, 'news'],
  [
    { type: 'stream_event', event: { type: 'content_block_delta', delta: { type: 'input_json_delta', partial_json: '{' } } },
    'news',
  ],
  [{ type: 'system', subtype: 'session_state_changed' }, undefined],
])('%j is read as a sign of life (%s), and is nothing that is recorded', (line, sign) => {
  const heard = translate({ text: JSON.stringify(line), truncatedBytes: 0 })
  expect(heard).toMatchObject({ events: [] })
  expect([heard.sign, heard.isUnknown, isActivity(heard)]).toEqual([sign, undefined, false])
})
