import { modelOf, numberOf, present } from '../fields.ts'
import { sseFrame } from '../frames.ts'
import { listed } from '../openai/models.ts'
import { errorBody, refusal, refused } from '../openai/refusal.ts'
import type { Wire } from '../wire.ts'
import { answerReader, readWhole } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { usageReader } from './usage.ts'
import { answerStream, answerWhole } from './write-answer.ts'
import { writeRequest } from './write-request.ts'

/** OpenAI Chat Completions, which most other makers and local servers speak too. */
export const openaiChat: Wire = {
  name: 'openai-chat',
  framing: 'sse',

  asked(method, path) {
    if (method === 'POST' && /^(\/v1)?\/chat\/completions$/.test(path)) return { kind: 'generate' }
    return method === 'GET' && /^(\/v1)?\/models(\/.+)?$/.test(path) ? { kind: 'models' } : undefined
  },
  head: (body) =>
    present({
      model: modelOf(body),
      streams: body.stream === true,
      // Services differ in which of the two they go by.
      maxOutputTokens: largest(numberOf(body.max_completion_tokens), numberOf(body.max_tokens)),
    }),
  usageReader,
  refused,
  authorization: (key) => ({ authorization: `Bearer ${key}` }),

  readRequest,
  answerStream,
  answerWhole,
  refusal,
  refusalFrame: (told, now) => sseFrame({ error: errorBody(told, now) }),
  counted: (inputTokens) => ({ input_tokens: inputTokens }),
  listed,

  writeRequest,
  answerReader,
  readWhole,
}

const largest = (one: number | undefined, other: number | undefined) =>
  one === undefined || other === undefined ? (one ?? other) : Math.max(one, other)
