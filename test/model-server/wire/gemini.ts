import { normalTurns, type Turn } from '../conversation.ts'
import {
  type Failure,
  type FailureKind,
  failureHeaders,
  pieces,
  type Refusal,
  type Reply,
  sealOf,
  secondsUntil,
  type Usage,
} from '../reply.ts'
import { asList, asRecord, asText, type Body, found, scriptedModels, sse, textOf, type Wire } from './wire.ts'

const askPath = /^\/v1(?:beta|alpha)?\/models\/([^/:]+):(generateContent|streamGenerateContent)$/

/** Gemini generateContent. The model and the streaming are in the path. */
export const gemini: Wire = {
  name: 'gemini',
  streamType: 'text/event-stream',
  asksModel: (method, path) => method === 'POST' && askPath.test(path),

  read(body, path, query) {
    const [, model, verb] = askPath.exec(path) ?? []
    return {
      model: model ?? '',
      stream: verb === 'streamGenerateContent' && query.get('alt') === 'sse',
      isList: verb === 'streamGenerateContent' && query.get('alt') !== 'sse',
      system: textOf(asRecord(body.systemInstruction).parts),
      turns: normalTurns(asList(body.contents).flatMap(turnsOf)),
      tools: asList(body.tools)
        .flatMap((tool) => asList(tool.functionDeclarations))
        .map((tool) => ({ name: asText(tool.name), kind: 'function' })),
      images: found(body.contents, (part) => asRecord(part.inlineData).data),
      // The word that programs send where they have no signature.
      seals: found(body.contents, (part) => part.thoughtSignature).filter((it) => it !== 'skip_thought_signature_validator'),
    }
  },

  whole: (reply) => {
    const thoughts = reply.thinking ? [{ text: reply.thinking, thought: true }] : []
    return response(reply, [...thoughts, ...(reply.text ? [{ text: reply.text }] : []), ...callParts(reply)], 'STOP')
  },

  *frames(reply) {
    for (const text of pieces(reply.thinking)) yield sse(response(reply, [{ text, thought: true }]))
    for (const text of pieces(reply.text)) yield sse(response(reply, [{ text }]))
    yield sse(response(reply, callParts(reply), 'STOP'))
  },

  refusal,
  refusalFrame: (failure) => sse(refusal(failure).body),

  aside({ method, path, body }) {
    if (method === 'POST' && /\/models\/[^/:]+:countTokens$/.test(path)) {
      return { totalTokens: Math.ceil(JSON.stringify(body).length / 4) }
    }
    if (method === 'GET' && path === '/v1beta/models') {
      const supportedGenerationMethods = ['generateContent', 'countTokens']
      return { models: scriptedModels.map((name) => ({ name: `models/${name}`, displayName: name, supportedGenerationMethods })) }
    }
  },
}

function turnsOf(content: Body): Turn[] {
  return asList(content.parts).flatMap((part): Turn[] => {
    if (content.role === 'model') return [{ role: 'assistant', text: asText(part.text) }]
    const result = asRecord(part.functionResponse)
    if ('name' in result) return [{ role: 'tool', text: resultText(asRecord(result.response)) }]
    return [{ role: 'user', text: asText(part.text) }]
  })
}

const resultText = (response: Body) => asText(response.output) || asText(response.error) || JSON.stringify(response)

/** The signature of what was thought hangs on the first of the calls that came of it. */
const callParts = (reply: Reply) =>
  reply.calls.map(({ id, name, args }, index) => ({
    functionCall: { id, name, args },
    ...(reply.thinking && index === 0 ? { thoughtSignature: sealOf(reply) } : {}),
  }))

const response = (reply: Reply, parts: unknown[], finishReason?: 'STOP') => ({
  candidates: [{ index: 0, content: { role: 'model', parts }, ...(finishReason ? { finishReason } : {}) }],
  ...(finishReason ? { usageMetadata: usage(reply.usage) } : {}),
  modelVersion: reply.model,
  responseId: reply.id,
})

const usage = (count: Usage) => ({
  promptTokenCount: count.input,
  cachedContentTokenCount: count.cacheRead,
  candidatesTokenCount: count.output - count.reasoning,
  thoughtsTokenCount: count.reasoning,
  totalTokenCount: count.input + count.output,
})

const refusals: Record<FailureKind, [code: number, status: string, message: string]> = {
  'rate-limit': [429, 'RESOURCE_EXHAUSTED', 'Resource has been exhausted (e.g. check quota).'],
  'usage-limit': [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota.'],
  auth: [401, 'UNAUTHENTICATED', 'API key not valid. Please pass a valid API key.'],
  forbidden: [403, 'PERMISSION_DENIED', 'The caller does not have permission.'],
  'not-found': [404, 'NOT_FOUND', 'models/scripted-model is not found for API version v1beta.'],
  'context-overflow': [
    400,
    'INVALID_ARGUMENT',
    'The input token count (1250000) exceeds the maximum number of tokens allowed (1048576).',
  ],
  credit: [429, 'RESOURCE_EXHAUSTED', 'You exceeded your current quota, please check your plan and billing details.'],
  'server-error': [500, 'INTERNAL', 'An internal error has occurred.'],
  overloaded: [503, 'UNAVAILABLE', 'The model is overloaded. Please try again later.'],
}

function refusal(failure: Failure): Refusal {
  const [code, status, message] = refusals[failure.kind]
  const { retryAfterSeconds, resetsAt } = failure
  const wait = retryAfterSeconds ?? (resetsAt && secondsUntil(resetsAt))
  const details =
    wait === undefined ? {} : { details: [{ '@type': 'type.googleapis.com/google.rpc.RetryInfo', retryDelay: `${wait}s` }] }
  return {
    status: failure.status ?? code,
    headers: failureHeaders(failure),
    body: {
      error: { code: failure.status ?? code, message: failure.message ?? message, status: failure.type ?? status, ...details },
    },
  }
}
