import { modelOf, numberOf, present } from '../fields.ts'
import { sseFrame } from '../frames.ts'
import { listed } from '../openai/models.ts'
import { errorBody, refusal, refused } from '../openai/refusal.ts'
import type { Wire } from '../wire.ts'
import { answerReader, readWhole } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { usageReader } from './usage.ts'
import { answerStream } from './write-answer.ts'
import { writeRequest } from './write-request.ts'
import { answerWhole, failedOf } from './write-whole.ts'

/** OpenAI Responses. */
export const openaiResponses: Wire = {
  name: 'openai-responses',
  framing: 'sse',

  asked(method, path) {
    if (method === 'POST' && /^(\/v1)?\/responses$/.test(path)) return { kind: 'generate' }
    if (method === 'POST' && /^(\/v1)?\/responses\/input_tokens$/.test(path)) return { kind: 'count_tokens' }
    return method === 'GET' && /^(\/v1)?\/models(\/.+)?$/.test(path) ? { kind: 'models' } : undefined
  },
  head: (body) =>
    present({ model: modelOf(body), streams: body.stream === true, maxOutputTokens: numberOf(body.max_output_tokens) }),
  usageReader,
  refused,
  authorization: (key) => ({ authorization: `Bearer ${key}` }),

  readRequest,
  answerStream,
  answerWhole,
  refusal,
  refusalFrame: (told, now) =>
    sseFrame(
      { type: 'response.failed', ...failedOf({ id: 'resp_refused', model: '' }, errorBody(told, now)) },
      'response.failed',
    ),
  counted: (inputTokens) => ({ object: 'response.input_tokens', input_tokens: inputTokens }),
  listed,

  writeRequest,
  answerReader,
  readWhole,
}
