import { createFrameSplitter } from '../../src/gateway/wires/frames.ts'
import type { EndReason, ModelAnswer, ModelEvent, ModelUsage } from '../../src/gateway/wires/model-event.ts'
import type { ModelRequest, Part, TextPart, ToolResultPart } from '../../src/gateway/wires/model-request.ts'
import type { Wire, WireName } from '../../src/gateway/wires/wire.ts'

// What two requests or answers have in common when nothing was lost between them.

export function thrownBy(read: () => unknown): unknown {
  try {
    read()
    return undefined
  } catch (thrown) {
    return thrown
  }
}

export const bytesOf = (wire: Wire, asked: ModelRequest, given: readonly ModelEvent[]) => {
  const writer = wire.answerStream({ ...asked, streams: true })
  return Buffer.from(given.map((event) => writer.write(event)).join('') + writer.end())
}

export function framesOf(wire: Wire, bytes: Buffer, cuts: readonly number[]) {
  const splitter = createFrameSplitter(wire.framing)
  const places = [0, ...cuts.map((cut) => Math.floor(cut * bytes.length)).sort((a, b) => a - b), bytes.length]
  const frames = places.slice(1).flatMap((end, index) => splitter.push(bytes.subarray(places[index], end)))
  return [...frames, ...splitter.end()]
}

export function streamed(wire: Wire, asked: ModelRequest, given: readonly ModelEvent[], cuts: readonly number[]): ModelEvent[] {
  const reader = wire.answerReader()
  const read = framesOf(wire, bytesOf(wire, asked, given), cuts).flatMap((frame) => reader.read(frame))
  return [...read, ...reader.end()]
}

/** The whole answer that a stream tells. */
export function folded(given: readonly ModelEvent[]): ModelAnswer {
  const parts: Part[] = []
  const inputs = new Map<number, { at: number; json: string }>()
  let answer = { id: '', model: '', reason: 'end' as EndReason }
  let told: ModelUsage | undefined
  for (const event of given) {
    const last = parts.at(-1)
    if (event.type === 'start') answer = { ...answer, id: event.id, model: event.model }
    if (event.type === 'text' || event.type === 'thinking') {
      if (last?.kind === event.type && !('seal' in last)) parts[parts.length - 1] = { ...last, text: last.text + event.text }
      else parts.push({ kind: event.type, text: event.text })
    }
    if (event.type === 'thinking_seal') {
      if (last?.kind === 'thinking') parts[parts.length - 1] = { ...last, seal: event.seal }
      else parts.push({ kind: 'thinking', text: '', seal: event.seal })
    }
    if (event.type === 'tool_call') {
      inputs.set(event.index, { at: parts.length, json: '' })
      parts.push({ kind: 'tool_call', id: event.id, name: event.name, input: {}, ...(event.seal ? { seal: event.seal } : {}) })
    }
    if (event.type === 'tool_input') inputs.get(event.index)!.json += event.json
    if (event.type === 'usage') told = event.usage
    if (event.type === 'end') answer = { ...answer, reason: event.reason }
    if (event.type === 'error') throw new Error(`The stream broke off: ${event.message}`)
  }
  for (const { at, json } of inputs.values()) parts[at] = { ...parts[at], input: JSON.parse(json) } as Part
  return { ...answer, parts, ...(told ? { usage: told } : {}) }
}

/** What must survive every format: who said what, what was called with what and what came of it, what was shown, in their order. */
export function essence({ system, messages, tools, toolChoice, maxOutputTokens, streams }: ModelRequest) {
  // Where a format cannot forbid or choose a tool, it offers no other.
  const offered =
    toolChoice === 'none' ? [] : tools.filter(({ name }) => typeof toolChoice === 'string' || toolChoice.name === name)
  const turns: { role: string; words: string; seen: string[]; calls: unknown[] }[] = []
  for (const { role, parts } of messages) {
    const last = turns.at(-1)
    const turn = last?.role === role ? last : { role, words: '', seen: [], calls: [] }
    if (turn !== last) turns.push(turn)
    const inner = parts.flatMap((part): readonly Part[] => (part.kind === 'tool_result' ? part.parts : [part]))
    turn.words += inner
      .filter((part) => part.kind === 'text')
      .map(({ text }) => text)
      .join('\n')
    turn.seen.push(
      ...inner
        .filter((part) => part.kind === 'image')
        .map(({ data }) => data!)
        .sort(),
    )
    turn.calls.push(...parts.filter((part) => part.kind === 'tool_call' || part.kind === 'tool_result').map(linked))
  }
  return {
    ...{
      system: textOf(system),
      tools: offered.map((tool) => [tool.name, tool.description, tool.schema]),
      maxOutputTokens,
      streams,
    },
    turns: turns.map((turn) => ({ ...turn, words: turn.words.replace(/\n|Error: /g, '') })),
  }
}

const textOf = (parts: readonly TextPart[]) => parts.map(({ text }) => text).join('\n')
const linked = (part: Part) => (part.kind === 'tool_call' ? bare(part) : part.kind === 'tool_result' ? part.callId : undefined)
export const bare = (part: Part) =>
  part.kind === 'tool_call' ? { id: part.id, name: part.name, input: part.input } : part.kind === 'text' ? part.text : part

/** What a format can say beyond that. */
export function sayable({ name }: Wire, asked: ModelRequest) {
  return {
    ...(name === 'ollama' ? {} : { toolChoice: asked.toolChoice }),
    ...(name === 'gemini' || name === 'ollama' ? {} : { parallelTools: asked.parallelTools || asked.toolChoice === 'none' }),
    ...(name === 'openai-responses' ? {} : { stop: asked.stop }),
    model: asked.model,
    outputSchema: asked.outputSchema?.schema,
    thoughts: asked.messages.flatMap(({ parts }) =>
      parts.flatMap((part) => (part.kind === 'thinking' ? [name === 'ollama' ? part.text : `${part.text} ${part.seal}`] : [])),
    ),
    failures: asked.messages.flatMap(({ parts }) =>
      parts.filter((part) => part.kind === 'tool_result').map((part) => failed(name, part)),
    ),
  }
}

const failed = (name: WireName, { isError }: ToolResultPart) => (name === 'anthropic' || name === 'gemini' ? isError : undefined)

/** An answer within what the format can say of it. */
export function told({ name }: Wire, answer: ModelAnswer) {
  const seals = name !== 'ollama'
  return {
    parts: answer.parts.map((part) => (part.kind === 'thinking' && !seals ? { ...part, seal: undefined } : part)),
    reason: reasonIn(name, answer.reason),
    usage: answer.usage && usageIn(name, answer.usage),
  }
}

function reasonIn(name: WireName, reason: EndReason): EndReason {
  if (name === 'anthropic') return reason
  if (reason === 'stop_sequence' || reason === 'paused') return 'end'
  return name === 'ollama' && reason === 'refused' ? 'end' : reason
}

export function usageIn(name: WireName, told: ModelUsage): ModelUsage {
  const { inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens } = told
  if (name === 'gemini') return { ...told, inputTokens: inputTokens + cacheWriteTokens, cacheWriteTokens: 0 }
  if (name !== 'ollama') return told
  return {
    inputTokens: inputTokens + cacheReadTokens + cacheWriteTokens,
    outputTokens,
    cacheReadTokens: 0,
    cacheWriteTokens: 0,
    reasoningTokens: 0,
  }
}

export const totals = ({ inputTokens, outputTokens, cacheReadTokens, cacheWriteTokens }: ModelUsage) => [
  inputTokens + cacheReadTokens + cacheWriteTokens,
  outputTokens,
]
