import { fieldsOf } from '../../../domain/base/object.ts'
import { asText, given, modelOf, present } from '../fields.ts'
import { ndjsonFrame } from '../frames.ts'
import type { JsonObject } from '../model-request.ts'
import type { Asked, Wire } from '../wire.ts'
import { OllamaAnswerReader, readWhole, usageReader } from './answer-reader.ts'
import { answerWhole, ollamaAnswerWriter } from './answer-writer.ts'
import { readRequest } from './read-request.ts'
import { refusal, refused } from './refusals.ts'
import { writeRequest } from './write-request.ts'

/** Ollama chat: lines of JSON, streamed unless the request says otherwise. */
export const ollama: Wire = {
  name: 'ollama',
  framing: 'ndjson',
  asked,

  head(body) {
    const options = given.object(body.options, 'options') ?? {}
    const most = given.number(options.num_predict, 'options.num_predict')
    // Below zero it means without end.
    const maxOutputTokens = most !== undefined && most > 0 ? most : undefined
    return present({ model: modelOf(body), streams: body.stream !== false, maxOutputTokens })
  },
  usageReader,
  refused,
  // A server of one's own knows nobody; ollama.com takes a key.
  authorization: (key) => ({ authorization: `Bearer ${key}` }),

  readRequest,
  answerStream: (request) => ollamaAnswerWriter(request.model),
  answerWhole,
  refusal,
  refusalFrame: (told, now) => ndjsonFrame(refusal(told, now).body),
  counted: (prompt_eval_count) => ({ prompt_eval_count }),
  listed,

  writeRequest,
  answerReader: () => new OllamaAnswerReader(),
  readWhole,
}

const asides = ['GET /api/tags', 'POST /api/show', 'GET /api/version']

function asked(method: string, path: string): Asked | undefined {
  if (method === 'POST' && path === '/api/chat') return { kind: 'generate' }
  return asides.includes(`${method} ${path}`) ? { kind: 'models' } : undefined
}

/** Clients refuse servers that are too old for them. */
const version = '0.20.0'

function listed(models: readonly string[], path: string, body: JsonObject): JsonObject | undefined {
  if (path === '/api/version') return { version }
  if (path === '/api/tags') return { models: models.map(entry) }
  const name = (asText(body.model) || asText(body.name)).replace(/:latest$/, '')
  if (!models.some((model) => model.replace(/:latest$/, '') === name)) return undefined
  return { details: fieldsOf(entry(name).details), capabilities: ['completion', 'tools', 'vision', 'thinking'], model_info: {} }
}

const entry = (name: string): JsonObject => ({
  name,
  model: name,
  modified_at: '1970-01-01T00:00:00Z',
  size: 0,
  digest: '',
  details: { format: '', family: '', families: [], parameter_size: '', quantization_level: '' },
})
