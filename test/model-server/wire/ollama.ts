import { normalTurns, type Turn } from '../conversation.ts'
import { type Failure, type FailureKind, failureHeaders, pieces, type Refusal, type Reply, type Usage } from '../reply.ts'
import { asList, asRecord, asText, type Body, found, RefusedAside, scriptedModels, type Wire } from './wire.ts'

/** Ollama chat: lines of JSON, streamed unless the request says otherwise. */
export const ollama: Wire = {
  name: 'ollama',
  streamType: 'application/x-ndjson',
  asksModel: (method, path) => method === 'POST' && path === '/api/chat',

  read: (body) => ({
    model: asText(body.model),
    stream: body.stream !== false,
    system: asList(body.messages)
      .filter((message) => message.role === 'system')
      .map((message) => asText(message.content))
      .join('\n'),
    turns: normalTurns(asList(body.messages).flatMap(turnsOf)),
    tools: asList(body.tools).map((tool) => ({ name: asText(asRecord(tool.function).name), kind: 'function' })),
    images: found(body.messages, (message) => message.images),
    seals: [],
  }),

  whole: (reply) => ({
    ...envelope(reply),
    message: { ...message(reply, reply.text, true), ...(reply.thinking ? { thinking: reply.thinking } : {}) },
    ...ending(reply.usage),
  }),

  *frames(reply) {
    for (const thinking of pieces(reply.thinking)) {
      yield line({ ...envelope(reply), message: { ...message(reply, '', false), thinking }, done: false })
    }
    for (const text of pieces(reply.text)) yield line({ ...envelope(reply), message: message(reply, text, false), done: false })
    if (reply.calls.length > 0) yield line({ ...envelope(reply), message: message(reply, '', true), done: false })
    yield line({ ...envelope(reply), message: message(reply, '', false), ...ending(reply.usage) })
  },

  refusal,
  refusalFrame: (failure) => line(refusal(failure).body),

  aside({ method, path, body, pulled }) {
    // Codex refuses an Ollama older than 0.13.4.
    if (method === 'GET' && path === '/api/version') return { version: '0.20.0' }
    const names = [...Object.keys(abilities), ...pulled]
    const model = asText(body.model) || asText(body.name)
    if (method === 'GET' && path === '/api/tags') return { models: names.map(tag) }
    if (method === 'POST' && path === '/api/show') {
      return names.some((name) => withTag(name) === withTag(model))
        ? shown(model)
        : new RefusedAside(404, { error: `model '${model}' not found` })
    }
    if (method === 'POST' && path === '/api/pull') {
      // The registry is asked after the answer has begun, so a name that it does not know is told in the stream.
      const unknown = model.startsWith('nowhere/')
      if (!unknown) pulled.add(model)
      const end = unknown ? { error: 'pull model manifest: file does not exist' } : { status: 'success' }
      if (body.stream === false) return unknown ? new RefusedAside(500, end) : end
      return [{ status: 'pulling manifest' }, ...(unknown ? [] : layers), end].map(line).join('')
    }
  },
}

interface Ability {
  readonly capabilities: readonly string[]
  readonly contextLength: number
  readonly parameters?: string
}
const usual: Ability = { capabilities: ['completion', 'tools', 'thinking'], contextLength: 131_072 }
/** What there is without a pull; the names tell what each can and cannot. */
const abilities: Readonly<Record<string, Ability>> = {
  ...Object.fromEntries(scriptedModels.map((name) => [name, usual])),
  'scripted-seeing:latest': { ...usual, capabilities: ['completion', 'tools', 'vision'] },
  'scripted-toolless:latest': { ...usual, capabilities: ['completion'] },
  'scripted-small:latest': { ...usual, contextLength: 4_096 },
  'scripted-vast:latest': { ...usual, contextLength: 2_000_000 },
  'scripted-tuned:latest': {
    ...usual,
    parameters: 'stop                           "<|end|>"\nnum_ctx                        8192',
  },
}

const withTag = (name: string) => (name.includes(':') ? name : `${name}:latest`)

function shown(model: string) {
  const { capabilities, contextLength, parameters = '' } = abilities[model] ?? abilities[withTag(model)] ?? usual
  const model_info = { 'general.architecture': 'scripted', 'scripted.context_length': contextLength }
  return { details: tag(model).details, parameters, capabilities, model_info }
}

const digest = 'sha256:5f0d'
const layers = [0, 500_000_000, 1_000_000_000, 2_000_000_000]
  .map(
    (completed): Record<string, unknown> => ({ status: `pulling ${digest.slice(7)}`, digest, total: 2_000_000_000, completed }),
  )
  .concat([{ status: 'verifying sha256 digest' }, { status: 'writing manifest' }])

function turnsOf(message: Body): Turn[] {
  const text = asText(message.content)
  const role = message.role
  return role === 'user' || role === 'assistant' || role === 'tool' ? [{ role, text }] : []
}

const line = (data: unknown) => `${JSON.stringify(data)}\n`
const envelope = (reply: Reply) => ({ model: reply.model, created_at: reply.createdAt.toISOString() })

const message = ({ calls }: Reply, content: string, withCall: boolean) => ({
  role: 'assistant',
  content,
  ...(withCall && calls.length > 0
    ? { tool_calls: calls.map((call) => ({ function: { name: call.name, arguments: call.args } })) }
    : {}),
})

const ending = (count: Usage) => ({
  done: true,
  done_reason: 'stop',
  total_duration: 1_000_000,
  prompt_eval_count: count.input,
  eval_count: count.output,
})

const tag = (name: string) => ({
  name,
  model: name,
  modified_at: '2026-01-01T00:00:00Z',
  size: 1,
  digest: '0'.repeat(64),
  details: { format: 'gguf', family: 'scripted', families: ['scripted'], parameter_size: '1B', quantization_level: 'Q4_0' },
})

const refusals: Record<FailureKind, [status: number, message: string]> = {
  'rate-limit': [429, 'too many requests'],
  'usage-limit': [429, 'you have reached your usage limit'],
  auth: [401, 'unauthorized'],
  forbidden: [403, 'forbidden'],
  'not-found': [404, "model 'scripted-model' not found"],
  'context-overflow': [400, 'the input length exceeds the context length'],
  credit: [402, 'this model requires a subscription'],
  'server-error': [500, 'llama runner process has terminated'],
  overloaded: [503, 'server busy, please try again. maximum pending requests exceeded'],
}

function refusal(failure: Failure): Refusal {
  const [status, message] = refusals[failure.kind]
  return { status: failure.status ?? status, headers: failureHeaders(failure), body: { error: failure.message ?? message } }
}
