import { modelOf, numberOf, present } from '../fields.ts'
import { sseFrame } from '../frames.ts'
import type { Wire } from '../wire.ts'
import { answerReader, readWhole } from './read-answer.ts'
import { readRequest } from './read-request.ts'
import { refusal, refusalBody, refused } from './refusal.ts'
import { AnthropicUsageReader } from './usage.ts'
import { answerStream, answerWhole } from './write-answer.ts'
import { writeRequest } from './write-request.ts'

/** Anthropic Messages. */
export const anthropic: Wire = {
  name: 'anthropic',
  framing: 'sse',

  asked(method, path) {
    if (method === 'POST' && /^(\/v1)?\/messages$/.test(path)) return { kind: 'generate' }
    if (method === 'POST' && /^(\/v1)?\/messages\/count_tokens$/.test(path)) return { kind: 'count_tokens' }
    const models = method === 'GET' ? /^\/v1\/models(?:\/(.+))?$/.exec(path) : null
    return models ? present({ kind: 'models' as const, model: models[1] && decodeURIComponent(models[1]) }) : undefined
  },
  head: (body) => present({ model: modelOf(body), streams: body.stream === true, maxOutputTokens: numberOf(body.max_tokens) }),
  usageReader: () => new AnthropicUsageReader(),
  refused,
  authorization: (key) => ({ 'x-api-key': key, 'anthropic-version': '2023-06-01' }),

  readRequest,
  answerStream,
  answerWhole,
  refusal,
  refusalFrame: (told) => sseFrame(refusalBody(told), 'error'),
  counted: (inputTokens) => ({ input_tokens: inputTokens }),
  listed(models, path) {
    const wanted = /\/models\/(.+)$/.exec(path)?.[1]
    if (wanted !== undefined)
      return models.includes(decodeURIComponent(wanted)) ? modelEntry(decodeURIComponent(wanted)) : undefined
    return { data: models.map(modelEntry), has_more: false, first_id: models[0] ?? null, last_id: models.at(-1) ?? null }
  },

  writeRequest,
  answerReader,
  readWhole,
}

const modelEntry = (id: string) => ({ type: 'model', id, display_name: id, created_at: '2025-01-01T00:00:00Z' })
