import { expect, it } from 'vitest'
import type { ExactCall, QuestionAsked } from '../../domain/question/question.ts'
import { networkAccess } from './access.ts'
import { decide } from './host-rule.ts'

const profile = { name: 'mine', network: { allow: ['registry.example'], ask: ['*'], deny: ['evil.example'] } }

it('a run reaches what its profile names, the makers of its program where it has no endpoint, and what was granted to its task', async () => {
  const asked: (QuestionAsked & { call: ExactCall })[] = []
  const parts = {
    profile,
    hosts: ['api.maker.example:443'],
    questions: [],
    ask: async (question: QuestionAsked, call: ExactCall) => void asked.push({ ...question, call }),
    record: () => undefined,
  }
  const verdicts = (access: ReturnType<typeof networkAccess>) =>
    ['registry.example', 'api.maker.example', 'other.example', 'evil.example'].map(
      (host) => decide(access.rules, host, 443).verdict,
    )
  const first = networkAccess({ ...parts, baseUrl: undefined })
  expect(verdicts(first)).toEqual(['allow', 'allow', 'ask', 'deny'])
  expect(verdicts(networkAccess({ ...parts, baseUrl: 'http://127.0.0.1:11434/v1' }))).toEqual(['allow', 'ask', 'ask', 'deny'])
  await first.ask({ host: 'other.example', port: 443 })
  const questions = asked.map((question) => ({ ...question, answer: question.options[0] }))
  expect(verdicts(networkAccess({ ...parts, baseUrl: undefined, questions }))).toEqual(['allow', 'allow', 'allow', 'deny'])
})
