import { given, required } from '../fields.ts'
import { sseFrame } from '../frames.ts'
import type { Asked, Wire } from '../wire.ts'
import { GeminiAnswerReader, readWhole, usageReader } from './answer-reader.ts'
import { answerWhole, geminiAnswerWriter } from './answer-writer.ts'
import { field } from './parts.ts'
import { readRequest } from './read-request.ts'
import { refusal, refusalBody, refused } from './refusals.ts'
import { writeRequest } from './write-request.ts'

/** Gemini generateContent. Model and streaming are in the path. */
export const gemini: Wire = {
  name: 'gemini',
  framing: 'sse',
  asked,

  head(body, { model, streams }) {
    const config = given.object(field(body, 'generationConfig'), 'generationConfig') ?? {}
    const maxOutputTokens = given.number(field(config, 'maxOutputTokens'), 'generationConfig.maxOutputTokens')
    const head = { model: required(model, 'model'), streams: streams === true }
    return maxOutputTokens === undefined ? head : { ...head, maxOutputTokens }
  },
  usageReader,
  refused,
  authorization: (key) => ({ 'x-goog-api-key': key }),

  readRequest,
  answerStream: () => geminiAnswerWriter(),
  answerWhole,
  refusal,
  refusalFrame: (told, now) => sseFrame(refusalBody(told, now)),
  counted: (totalTokens) => ({ totalTokens }),
  listed(models, path) {
    const one = modelPath.exec(path)?.[1]
    if (one === undefined) return { models: models.map(entry) }
    return models.includes(decodeURIComponent(one)) ? entry(decodeURIComponent(one)) : undefined
  },

  writeRequest,
  answerReader: () => new GeminiAnswerReader(),
  readWhole,
}

const verbPath = /^(?:\/v1(?:beta|alpha)?)?\/models\/(.+):(generateContent|streamGenerateContent|countTokens)$/
const modelPath = /^\/v1(?:beta|alpha)\/models(?:\/(.+))?$/

function asked(method: string, path: string, query?: URLSearchParams): Asked | undefined {
  if (method === 'GET') return modelPath.test(path) ? { kind: 'models' } : undefined
  const [, name, verb] = verbPath.exec(path) ?? []
  if (method !== 'POST' || name === undefined) return undefined
  const model = decodeURIComponent(name)
  if (verb === 'countTokens') return { kind: 'count_tokens', model }
  const streams = verb === 'streamGenerateContent'
  if (!streams || query === undefined || query.get('alt') === 'sse') return { kind: 'generate', model, streams }
  return { kind: 'generate', model, streams: false, isArray: true }
}

const entry = (name: string) => ({
  name: `models/${name}`,
  displayName: name,
  supportedGenerationMethods: ['generateContent', 'countTokens'],
})
