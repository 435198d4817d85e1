/** What a test says to the model, in the words of one wire format, and how it reads the answer. Written apart from the server's own code. */
export interface Client {
  readonly name: string
  readonly path: (stream: boolean) => string
  readonly body: (history: readonly Said[], stream: boolean) => unknown
  readonly whole: (json: unknown) => Heard
  readonly streamed: (events: readonly unknown[]) => Heard
  /** The shell as a program of this format names it. */
  readonly shell: { name: string; args: unknown }
  /** Where a refusal keeps its words. */
  readonly errorPath: string
}

export type Said = { user: string } | { calledShell: true } | { toolResult: string }
export interface Heard {
  readonly text: string
  readonly call?: { name: string; args: unknown }
  readonly tokens: { input: number; output: number }
}

/** The value at a dotted path, undefined where the path leads nowhere. */
export const at = (value: unknown, path: string): unknown =>
  path.split('.').reduce<unknown>((inner, name) => (inner as Record<string, unknown> | undefined | null)?.[name], value)
export const list = (value: unknown, path: string) => (at(value, path) ?? []) as unknown[]
export const text = (value: unknown, path: string) => (at(value, path) ?? '') as string
export const count = (value: unknown, path: string) => Number(at(value, path))

const command = 'echo scripted-tool > tool-out.txt && cat tool-out.txt'
const described = { command, description: 'Scripted command' }

const heard = (words: string, name: string, args: unknown, input: number, output: number): Heard => ({
  text: words,
  ...(name === '' ? {} : { call: { name, args: typeof args === 'string' ? JSON.parse(args) : args } }),
  tokens: { input, output },
})

const anthropic: Client = {
  name: 'anthropic',
  path: () => '/v1/messages',
  shell: { name: 'Bash', args: described },
  body: (history, stream) => ({
    model: 'm',
    max_tokens: 100,
    stream,
    tools: [{ name: 'Read' }, { name: 'Bash' }],
    messages: history.map((said) => {
      if ('user' in said) return { role: 'user', content: said.user }
      if ('calledShell' in said) return { role: 'assistant', content: [{ type: 'tool_use', id: 'c', name: 'Bash', input: {} }] }
      return { role: 'user', content: [{ type: 'tool_result', tool_use_id: 'c', content: said.toolResult }] }
    }),
  }),
  whole: (json) => {
    const words = list(json, 'content').find((block) => text(block, 'type') === 'text')
    const call = list(json, 'content').find((block) => text(block, 'type') === 'tool_use')
    const input = count(json, 'usage.input_tokens') + count(json, 'usage.cache_read_input_tokens')
    return heard(text(words, 'text'), text(call, 'name'), at(call, 'input'), input, count(json, 'usage.output_tokens'))
  },
  streamed: (events) => {
    const ofType = (type: string) => events.filter((event) => text(event, 'type') === type)
    const joined = (path: string) =>
      ofType('content_block_delta')
        .map((event) => text(event, path))
        .join('')
    const call = events.find((event) => text(event, 'content_block.type') === 'tool_use')
    const usage = at(ofType('message_start')[0], 'message.usage')
    const input = count(usage, 'input_tokens') + count(usage, 'cache_read_input_tokens')
    const output = count(ofType('message_delta')[0], 'usage.output_tokens')
    return heard(joined('delta.text'), text(call, 'content_block.name'), joined('delta.partial_json'), input, output)
  },
  errorPath: 'error.message',
}

const responses: Client = {
  name: 'openai-responses',
  path: () => '/v1/responses',
  shell: { name: 'exec_command', args: { cmd: command } },
  body: (history, stream) => ({
    model: 'm',
    stream,
    tools: [{ type: 'function', name: 'exec_command' }, { type: 'web_search' }],
    input: history.map((said) => {
      if ('user' in said) return { type: 'message', role: 'user', content: [{ type: 'input_text', text: said.user }] }
      if ('calledShell' in said) return { type: 'function_call', name: 'exec_command', call_id: 'c', arguments: '{}' }
      return { type: 'function_call_output', call_id: 'c', output: said.toolResult }
    }),
  }),
  whole: (json) => {
    const words = list(json, 'output').find((item) => text(item, 'type') === 'message')
    const call = list(json, 'output').find((item) => text(item, 'type') === 'function_call')
    const [input, output] = [count(json, 'usage.input_tokens'), count(json, 'usage.output_tokens')]
    return heard(text(words, 'content.0.text'), text(call, 'name'), at(call, 'arguments'), input, output)
  },
  streamed: (events) => {
    const ofType = (type: string) => events.filter((event) => text(event, 'type') === type)
    const words = ofType('response.output_text.delta').map((event) => text(event, 'delta'))
    const call = ofType('response.output_item.done').find((event) => text(event, 'item.type') === 'function_call')
    const usage = at(ofType('response.completed')[0], 'response.usage')
    const [input, output] = [count(usage, 'input_tokens'), count(usage, 'output_tokens')]
    return heard(words.join(''), text(call, 'item.name'), at(call, 'item.arguments'), input, output)
  },
  errorPath: 'error.message',
}

const chat: Client = {
  name: 'openai-chat',
  path: () => '/v1/chat/completions',
  shell: { name: 'bash', args: described },
  body: (history, stream) => ({
    model: 'm',
    stream,
    tools: [{ type: 'function', function: { name: 'bash' } }],
    messages: history.map((said) => {
      if ('user' in said) return { role: 'user', content: said.user }
      if ('calledShell' in said) return { role: 'assistant', content: null, tool_calls: [{ id: 'c' }] }
      return { role: 'tool', tool_call_id: 'c', content: said.toolResult }
    }),
  }),
  whole: (json) => {
    const message = at(json, 'choices.0.message')
    const call = at(message, 'tool_calls.0.function')
    const [input, output] = [count(json, 'usage.prompt_tokens'), count(json, 'usage.completion_tokens')]
    return heard(text(message, 'content'), text(call, 'name'), at(call, 'arguments'), input, output)
  },
  streamed: (events) => {
    const deltas = events.map((event) => at(event, 'choices.0.delta'))
    const call = deltas.map((delta) => at(delta, 'tool_calls.0.function')).find(Boolean)
    const usage = events.map((event) => at(event, 'usage')).find(Boolean)
    const [input, output] = [count(usage, 'prompt_tokens'), count(usage, 'completion_tokens')]
    return heard(deltas.map((delta) => text(delta, 'content')).join(''), text(call, 'name'), at(call, 'arguments'), input, output)
  },
  errorPath: 'error.message',
}

const gemini: Client = {
  name: 'gemini',
  path: (stream) => `/v1beta/models/m:${stream ? 'streamGenerateContent?alt=sse' : 'generateContent'}`,
  shell: { name: 'run_shell_command', args: { ...described, is_background: false } },
  body: (history) => ({
    tools: [{ functionDeclarations: [{ name: 'read_file' }, { name: 'run_shell_command' }] }],
    contents: history.map((said) => {
      if ('user' in said) return { role: 'user', parts: [{ text: said.user }] }
      if ('calledShell' in said) return { role: 'model', parts: [{ functionCall: { name: 'run_shell_command', args: {} } }] }
      return {
        role: 'user',
        parts: [{ functionResponse: { name: 'run_shell_command', response: { output: said.toolResult } } }],
      }
    }),
  }),
  whole: (json) => gemini.streamed([json]),
  streamed: (events) => {
    const parts = events.flatMap((event) => list(event, 'candidates.0.content.parts'))
    const call = parts.map((part) => at(part, 'functionCall')).find(Boolean)
    const usage = at(events.at(-1), 'usageMetadata')
    const output = count(usage, 'candidatesTokenCount') + count(usage, 'thoughtsTokenCount')
    const words = parts.map((part) => text(part, 'text')).join('')
    return heard(words, text(call, 'name'), at(call, 'args'), count(usage, 'promptTokenCount'), output)
  },
  errorPath: 'error.message',
}

const ollama: Client = {
  name: 'ollama',
  path: () => '/api/chat',
  shell: { name: 'bash', args: described },
  body: (history, stream) => ({
    model: 'm',
    ...(stream ? {} : { stream }),
    tools: [{ type: 'function', function: { name: 'bash' } }],
    messages: history.map((said) => {
      if ('user' in said) return { role: 'user', content: said.user }
      if ('calledShell' in said) return { role: 'assistant', content: '', tool_calls: [{ function: { name: 'bash' } }] }
      return { role: 'tool', content: said.toolResult }
    }),
  }),
  whole: (json) => ollama.streamed([json]),
  streamed: (events) => {
    const call = events.map((event) => at(event, 'message.tool_calls.0.function')).find(Boolean)
    const words = events.map((event) => text(event, 'message.content')).join('')
    const last = events.at(-1)
    return heard(words, text(call, 'name'), at(call, 'arguments'), count(last, 'prompt_eval_count'), count(last, 'eval_count'))
  },
  errorPath: 'error',
}

export const clients: readonly Client[] = [anthropic, responses, chat, gemini, ollama]

/** Asks at a base address and reads the whole answer. */
export async function ask(client: Client, base: string, history: readonly Said[], stream: boolean): Promise<Heard> {
  const response = await post(client, base, history, stream)
  if (response.status !== 200) throw new Error(`status ${response.status}: ${await response.text()}`)
  return stream ? client.streamed(events(await response.text())) : client.whole(await response.json())
}

export const post = (client: Client, base: string, history: readonly Said[], stream: boolean, signal?: AbortSignal) =>
  fetch(`${base}${client.path(stream)}`, {
    method: 'POST',
    headers: { 'content-type': 'application/json' },
    body: JSON.stringify(client.body(history, stream)),
    signal: signal ?? null,
  })

/** The JSON of every line of a stream, be it server-sent events or plain lines. */
export const events = (stream: string): unknown[] =>
  stream
    .split('\n')
    .map((line) => line.replace(/^data: /, ''))
    .filter((line) => line.startsWith('{'))
    .map((line) => JSON.parse(line))
