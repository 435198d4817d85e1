import { randomUUID } from 'node:crypto'
import type { ServerResponse } from 'node:http'
import { PawlError } from '../../src/domain/error.ts'
import { askedFor, type Conversation } from './conversation.ts'
import { deliver, refuse, sendJson, sendText } from './deliver.ts'
import { fill } from './placeholders.ts'
import type { Reply } from './reply.ts'
import { defaultUsage, type Scenario, type Step } from './scenario.ts'
import { type Chosen, type Counters, chooseStep } from './script.ts'
import { callFor, structuredTool } from './tools.ts'
import { anthropic } from './wire/anthropic.ts'
import { gemini } from './wire/gemini.ts'
import { ollama } from './wire/ollama.ts'
import { openaiChat } from './wire/openai-chat.ts'
import { openaiResponses } from './wire/openai-responses.ts'
import { type Body, RefusedAside, type Wire } from './wire/wire.ts'

const wires: readonly Wire[] = [anthropic, openaiResponses, openaiChat, gemini, ollama]

/** A scenario, and what is remembered of it between the requests of one key. */
export interface Played {
  readonly scenario: Scenario
  readonly state: KeyState
}

/** One request to a scenario, its prefix removed from the path. */
export interface Call extends Played {
  /** Another scenario under the same key. */
  readonly other: (name: string) => Played
  readonly method: string
  readonly path: string
  readonly query: URLSearchParams
  readonly body: Body
  /** Says in the record what was done, before anything is sent. */
  readonly note: (facts: { wire?: string; answer: string }) => void
}

/** What is remembered between the requests of one key. */
export interface KeyState {
  readonly counters: Counters
  readonly pulled: Set<string>
}

/** Answers one request as its scenario says. Resolves when the answer is out, or the client is gone. */
export async function play(call: Call, response: ServerResponse): Promise<void> {
  const wire = wires.find((it) => it.asksModel(call.method, call.path))
  if (!wire) return answerAside(call, response)
  const conversation = wire.read(call.body, call.path, call.query)
  if (asksForTitle(conversation)) {
    call.note({ wire: wire.name, answer: 'title' })
    return deliver(response, wire, replyOf(titleStep, conversation, wire), titleStep, conversation)
  }
  const { step, name } = stepFor(call, conversation)
  call.note({ wire: wire.name, answer: name })
  if (!step.error) return deliver(response, wire, replyOf(step, conversation, wire), step, conversation)
  const { resetsInSeconds, inStream, ...error } = step.error
  const resetsAt = resetsInSeconds === undefined ? undefined : new Date(Date.now() + resetsInSeconds * 1000)
  return refuse(response, wire, { ...error, resetsAt }, inStream && conversation.stream)
}

function stepFor(call: Call, conversation: Conversation): Chosen {
  const asked = call.scenario.playsAsAsked ? askedFor(conversation) : undefined
  if (!asked) return chooseStep(call.scenario, conversation, call.state.counters)
  const { scenario, state } = call.other(asked.name)
  const { step, name } = chooseStep(scenario, asked.since, state.counters)
  return { step, name: `${asked.name}.${name}` }
}

function answerAside({ method, path, body, state, note }: Call, response: ServerResponse): void {
  for (const wire of wires) {
    const aside = wire.aside?.({ method, path, body, pulled: state.pulled })
    if (aside === undefined) continue
    note({ answer: 'aside' })
    if (aside instanceof RefusedAside) sendJson(response, aside.status, aside.body)
    else if (typeof aside === 'string') sendText(response, wire.streamType, aside)
    else sendJson(response, 200, aside)
    return
  }
  throw new PawlError('not_found', `The model server has no ${method} ${path}.`)
}

const titleStep: Step = { text: 'Scripted title', repeat: 1 }

/** opencode has its model name a conversation on the side; such a call is no part of it and uses nothing up. */
const asksForTitle = ({ tools, system }: Conversation) => tools.length === 0 && /\btitle generator\b/i.test(system)

/** A request that offers no tools is answered in words: nobody is there to run a call. */
function replyOf(step: Step, conversation: Conversation, wire: Wire): Reply {
  const { thinking = '', text = '', json, calls } = fill({ ...wordsOf(step), calls: callsOf(step) }, conversation)
  const { tools } = conversation
  const structured = json && structuredTool(tools)
  const id = randomUUID().replaceAll('-', '').slice(0, 24)
  const called = structured
    ? [{ name: structured.name, kind: 'function', args: json } as const]
    : json || tools.length === 0
      ? []
      : calls.map((call) => callFor(call, tools, wire.name))
  return {
    id,
    model: conversation.model || 'scripted-model',
    createdAt: new Date(),
    usage: step.usage ?? defaultUsage,
    thinking,
    text: json && !structured ? JSON.stringify(json) : text,
    // The number stands in front: Claude Code (2.1.325) takes `x` and `x_1` for parts of one call.
    calls: called.map((call, index) => ({ id: `call_${index === 0 ? '' : `${index}_`}${id}`, ...call })),
  }
}

const wordsOf = ({ thinking, text, json }: Step) => ({ thinking, text, json })
const callsOf = ({ toolCall, toolCalls = [] }: Step) => (toolCall ? [toolCall, ...toolCalls] : toolCalls)
