import { expect, test } from 'vitest'
import type { QuestionView } from '../../domain/view/view.ts'
import { formOf } from '../mcp/elicitation.ts'
import type { Editor } from './editor.ts'
import { ask, questionInWords } from './questions.ts'
import { createTeller } from './teller.ts'

/** Turned around, invisible, and a sequence that clears a terminal. */
const deceiving = 'rm \u202egpj.exe\u2066\u200b\u001b[2J'
const shown = 'rm <U+202E>gpj.exe<U+2066><U+200B><U+001B>[2J'

const question = (kind: QuestionView['kind']) =>
  ({
    id: 'q_1',
    kind,
    text: `May it run this?\n${deceiving}\u00a0x`,
    options: [`allow ${deceiving}`, 'deny'],
    multiSelect: false,
    digest: 'd',
    call: { tool: 'Bash', input: JSON.stringify({ command: deceiving }), digest: 'd' },
  }) as unknown as QuestionView

/** Keeps what it is asked. */
function editorOf(asked: unknown[]): Editor {
  return {
    hasForms: true,
    showsNotices: true,
    update: (_, update) => void asked.push(update),
    settled: async () => undefined,
    async permit(request) {
      asked.push(request)
      return { outcome: { outcome: 'selected', optionId: request.options[0]!.optionId } }
    },
    async fill(request) {
      asked.push(request)
      return undefined
    },
  }
}

test('what an editor asks its user to approve shows what cannot be seen, and its options still answer', async () => {
  const asked: unknown[] = []
  const place = { session: 's', folder: '/ws', callId: undefined, signal: new AbortController().signal }
  const reply = await ask(editorOf(asked), question('permission'), place)
  expect(reply).toEqual({ answer: { options: [1], digest: 'd' } })
  const request = asked.find((one) => (one as { options?: unknown }).options) as {
    options: { name: string }[]
    toolCall: { content: unknown }
  }
  expect(request.options[0]!.name).toBe(`allow ${shown}`)
  expect(request.toolCall.content).toEqual([
    { type: 'content', content: { type: 'text', text: `May it run this?\n${shown}<U+00A0>x` } },
  ])

  await ask(editorOf(asked), question('choice' as QuestionView['kind']), place)
  expect((asked.at(-1) as { message: string }).message).toContain(shown)
  expect(questionInWords(question('permission'))).toContain(`1. allow ${shown}`)
})

test('calls and notices in an editor, and questions of an MCP client, show it too', () => {
  const sent: Record<string, unknown>[] = []
  const teller = createTeller({
    task: 't',
    folder: '/ws',
    shows: { notices: true },
    send: (update) => void sent.push({ ...update }),
  })
  const event = { seq: 1, id: 1, task: 't', run: 'r', at: '2030-01-01T00:00:00Z' }
  const called = { callId: 'c', tool: 'Bash', input: { command: deceiving } }
  teller.event({ ...event, type: 'agent.tool_called', data: called } as unknown as Parameters<typeof teller.event>[0])
  const noted = { code: 'x', detail: deceiving }
  teller.event({ ...event, type: 'run.noted', data: noted } as unknown as Parameters<typeof teller.event>[0])
  expect(sent.map(({ title }) => title)).toEqual([shown, shown])

  expect(formOf(question('permission')).message).toContain(`May it run this?\n${shown}<U+00A0>x`)
})
