import { expect, onTestFinished, test } from 'vitest'
import { converse, makePlace, scripted } from '../../../test/contracts/adapter.ts'
import { launch } from '../../../test/contracts/launch.ts'
import { codex } from './agent.ts'

test('what it means to do is told as a list when it is made and when it changes', async () => {
  const list = (type: string, ...items: [string, boolean][]) => ({
    type,
    item: { id: 'item_1', type: 'todo_list', items: items.map(([text, completed]) => ({ text, completed })) },
  })
  const lines = [
    list('item.started', ['look around', false], ['mend it', false]),
    list('item.updated', ['look around', true], ['mend it', false]),
    list('item.completed', ['look around', true], ['mend it', false]),
    { type: 'item.completed', item: { id: 'item_2', type: 'agent_message', text: 'done' } },
    { type: 'turn.completed', usage: { input_tokens: 1, output_tokens: 1 } },
  ]
  const place = await makePlace()
  const child = await launch(scripted([{ write: lines.map((line) => `${JSON.stringify(line)}\n`).join('') }], place), place)
  onTestFinished(async () => void (await child.stop({ graceMs: 0 })))
  const spec = { options: codex.options.parse({ transport: 'exec' }), prompt: '', ...place, extraArgs: [] }
  const { verdict, events } = await converse(codex, child, spec)
  expect(verdict).toMatchObject({ outcome: 'succeeded', text: 'done' })
  expect(events.filter(({ type }) => type !== 'agent.usage')).toEqual([
    { type: 'agent.thinking', data: { text: 'Plan:\n- [ ] look around\n- [ ] mend it' } },
    { type: 'agent.thinking', data: { text: 'Plan:\n- [x] look around\n- [ ] mend it' } },
    { type: 'agent.message', data: { text: 'done' } },
  ])
})
