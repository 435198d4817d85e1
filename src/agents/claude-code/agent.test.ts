import { fileURLToPath } from 'node:url'
import { expect, test } from 'vitest'
import { adapterContract } from '../../../test/contracts/adapter.ts'
import { claudeCode } from './agent.ts'

const fakeClaude = fileURLToPath(new URL('../../../test/fake-agent/fake-claude.js', import.meta.url))
const line = (message: object) => `${JSON.stringify(message)}\n`
const says = (text: string) => line({ type: 'assistant', message: { content: [{ type: 'text', text }] } })

adapterContract(claudeCode, {
  options: { command: fakeClaude },
  missing: claudeCode.options.parse({ command: 'no-such-claude' }),
  says,
  answers: (text) => says(text) + line({ type: 'result', subtype: 'success', is_error: false, result: text }),
  answersEndTurns: true,
})

test('a permission mode is refused with the reason', () => {
  const { error } = claudeCode.options.safeParse({ permissionMode: 'bypassPermissions' })
  expect(error?.issues).toMatchObject([{ path: ['permissionMode'], message: expect.stringContaining('choose a profile') }])
})
