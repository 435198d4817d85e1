import type { EndReason, ModelAnswer, ModelUsage } from '../model-event.ts'
import type { JsonObject, ModelRequest, Part, ThinkingPart, ToolCallPart } from '../model-request.ts'
import { allInput, inputDetails } from '../openai/usage.ts'
import { sealAhead } from '../seal.ts'
import { callItem, clientSeal } from './items.ts'

export function answerWhole(answer: ModelAnswer, request: ModelRequest): JsonObject {
  const output: JsonObject[] = []
  const id = (prefix: string) => `${prefix}_${answer.id}_${output.length}`
  const putCall = (call: ToolCallPart) => {
    if (call.seal !== undefined) output.push(thoughtItem({ kind: 'thinking', text: '', seal: sealAhead(call.seal) }, id('rs')))
    const tool = request.tools.find(({ name }) => name === call.name)
    output.push(callItem(call, tool, id(tool?.form === 'text' ? 'ctc' : 'fc')))
  }
  const put = (part: Part) => {
    if (part.kind === 'text') output.push(messageItem(id('msg'), part.text))
    else if (part.kind === 'thinking') output.push(thoughtItem(part, id('rs')))
    else if (part.kind === 'tool_call') putCall(part)
  }
  answer.parts.forEach(put)
  return finished(responseOf(answer, output, 'completed'), answer.reason, answer.usage)
}

/** In a stream Codex knows the words of the API alone, and tries again after any other. */
const streamCode = (code: unknown) => (code === 'usage_limit_reached' ? 'insufficient_quota' : (code ?? 'server_error'))

export const failedOf = (envelope: { id: string; model: string }, error: JsonObject) => ({
  response: { ...responseOf(envelope, [], 'failed'), error: { ...error, code: streamCode(error.code) } },
})

/** Fixed, because nothing depends on it and answers can be compared. */
const createdAt = 1_735_689_600
export const responseOf = ({ id, model }: { id: string; model: string }, output: readonly JsonObject[], status: string) => ({
  id,
  object: 'response',
  created_at: createdAt,
  status,
  error: null,
  incomplete_details: null,
  model,
  output: [...output],
  parallel_tool_calls: true,
  tool_choice: 'auto',
  tools: [],
  usage: null,
})

export function finished(response: ReturnType<typeof responseOf>, reason: EndReason, usage: ModelUsage | undefined) {
  const cut = reason === 'max_tokens' ? 'max_output_tokens' : reason === 'refused' ? 'content_filter' : undefined
  const ending = cut === undefined ? {} : { status: 'incomplete', incomplete_details: { reason: cut } }
  return { ...response, ...ending, usage: usage ? usageFields(usage) : null }
}

const usageFields = (usage: ModelUsage) => ({
  input_tokens: allInput(usage),
  input_tokens_details: inputDetails(usage),
  output_tokens: usage.outputTokens,
  output_tokens_details: { reasoning_tokens: usage.reasoningTokens },
  total_tokens: allInput(usage) + usage.outputTokens,
})

export const outputText = (text: string) => ({ type: 'output_text', text, annotations: [] })
export const messageItem = (id: string, text: string) => ({
  id,
  type: 'message',
  status: 'completed',
  role: 'assistant',
  content: [outputText(text)],
})
export const thoughtItem = ({ text, seal }: ThinkingPart, id: string) => ({
  id,
  type: 'reasoning',
  summary: text === '' ? [] : [{ type: 'summary_text', text }],
  ...clientSeal(seal),
})
