import { afterAll } from 'vitest'
import { adapterContract } from '../../../test/contracts/adapter.ts'
import { startModelServer } from '../../../test/model-server/server.ts'
import { ollama } from './agent.ts'

const begins = { about: 'Repeats how the prompt begins.', steps: [{ text: '{{lastUserBegins}}' }] }
const server = await startModelServer({ scenarios: { begins } })
afterAll(() => server.close())

const line = (record: object) => `${JSON.stringify(record)}\n`

adapterContract(ollama, {
  options: { contextTokens: 1_000_000 },
  launch: { endpoint: server.base('begins', 'contract'), model: 'scripted-vast' },
  says: (text) => line({ type: 'text', text }),
  answers: (text) => line({ type: 'result', status: 'done', text }),
  answersEndTurns: true,
})
