import { asObject, type Fields } from '../../domain/base/object.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import type { Voice } from '../../domain/event/live-text.ts'
import type { Line } from '../../sandbox/process/lines.ts'
import type { LifeSign } from '../port.ts'
import { harmless } from '../shared/harmless.ts'
import { parseLine } from '../shared/json.ts'
import { clean, cut, pieceChars, textPieces } from '../shared/text.ts'
import { isGood, Result, TokenCounts } from './result.ts'

/** What one line of the program says. */
export interface Heard {
  readonly events: readonly AgentEvent[]
  /** Not understood: the line is kept as it was. */
  readonly isUnknown?: boolean
  /** The agent's own words; none of its subagents'. */
  readonly said?: string
  readonly session?: string | undefined
  readonly result?: Result
  /** The message of the model that the line is a part of, and what it used so far. */
  readonly call?: ModelCall | undefined
  readonly request?: ControlRequest
  /** When the account's limit, which was refused by just now, is over. */
  readonly resetsAt?: Date | undefined
  /** How many commands the agent left running. */
  readonly background?: number
  /** A piece of what the agent is saying; the whole comes in a line of its own. */
  readonly grown?: { readonly voice: Voice; readonly piece: string }
  /** It tells nothing but that the program lives, or works. */
  readonly sign?: LifeSign
}

/** A message comes as a line per block, and each of them says again what all of it used. */
export interface ModelCall extends TokenCounts {
  readonly id: string
  readonly model: string | undefined
  /** None of a subagent's. */
  readonly isOwn: boolean
}

/** Something the program wants to know from us; it waits until it gets an answer. */
export interface ControlRequest {
  readonly id: string
  readonly subtype: string
  readonly fields: Fields
}

/** One line of stream-json. Says the same whenever it is asked, and never throws. */
export function translate(line: Line): Heard {
  const parsed = parseLine(line)
  const message = 'fault' in parsed ? undefined : asObject(parsed.value)
  if (!message) return unknown
  switch (message.type) {
    case 'assistant':
      return fromAssistant(message)
    case 'user':
      return fromUser(message)
    case 'system':
      return fromSystem(message)
    case 'result':
      return fromResult(message)
    case 'control_request':
      return fromRequest(message)
    case 'stream_event':
      return fromStream(message)
    case 'rate_limit_event':
      return { events: [], resetsAt: resetOf(message.rate_limit_info) }
    default:
      return dullLine(message.type, dull)
  }
}

/** Does the program do something, rather than only tell of what it did? Between two turns it may not. */
export const isActivity = ({ events, session, result, request, background = 0 }: Heard) =>
  events.length > 0 || session !== undefined || result !== undefined || request !== undefined || background > 0

const nothing: Heard = { events: [] }
const news: Heard = { events: [], sign: 'news' }
const unknown: Heard = { events: [], isUnknown: true }

/** Lines that come on and on while a tool, a subagent or a hook works. */
const progress = new Set(['control_request_progress', 'hook_progress', 'task_progress', 'tool_progress'])

function dullLine(kind: unknown, kinds: ReadonlySet<string>): Heard {
  const name = textOf(kind) ?? ''
  if (!kinds.has(name)) return unknown
  if (name === 'keep_alive') return { events: [], sign: 'heartbeat' }
  return progress.has(name) ? { events: [], sign: 'call' } : nothing
}

/** Kinds of lines that tell a reader nothing which another line does not tell as well. */
const dull = new Set([
  'control_response',
  'control_cancel_request',
  'keep_alive',
  'tool_progress',
  'tool_use_summary',
  'prompt_suggestion',
])
const dullSystem = new Set([
  'commands_changed',
  'control_request_progress',
  'files_persisted',
  'hook_progress',
  'hook_response',
  'hook_started',
  'local_command',
  'per_turn_effort_changed',
  'permission_denied',
  'post_turn_summary',
  'session_metadata',
  'session_state_changed',
  'session_title_changed',
  'status',
  'stop_hook_summary',
  'task_notification',
  'task_progress',
  'task_started',
  'task_summary',
  'task_updated',
  'thinking_tokens',
  'turn_duration',
  'turn_starting',
  'vcs_state_changed',
])

function fromAssistant(line: Fields): Heard {
  const message = asObject(line.message)
  const content = message?.content
  if (!Array.isArray(content)) return unknown
  // The program's own words in the model's name, mostly errors; the result says them too.
  if (message?.model === '<synthetic>') return { events: [], resetsAt: resetOf(asObject(line.api_error_params)?.rate_limit_info) }
  const isOwn = isMain(line)
  const events: AgentEvent[] = []
  let said = ''
  let isUnknown = false
  for (const value of content) {
    const block = asObject(value)
    const type = textOf(block?.type)
    if (!block || type === undefined) isUnknown = true
    else if (type === 'text') {
      // What a subagent says comes back as the output of the tool that started it.
      const text = isOwn ? textOf(block.text) : ''
      if (!text) continue
      said += `${text}\n`
      for (const piece of textPieces(text)) events.push({ type: 'agent.message', data: { text: piece } })
    } else if (type === 'thinking') {
      const text = isOwn ? textOf(block.thinking) : ''
      for (const piece of textPieces(text ?? '')) events.push({ type: 'agent.thinking', data: { text: piece } })
    } else if (type.endsWith('tool_use')) events.push(called(block, line))
    else if (type.endsWith('tool_result')) events.push(returned(block))
    else if (type !== 'redacted_thinking') isUnknown = true
  }
  return { events, ...(said !== '' && { said }), ...(isUnknown && { isUnknown }), call: callOf(message, isOwn) }
}

/** The pieces of what `assistant` tells whole. */
function fromStream(line: Fields): Heard {
  const event = isMain(line) ? asObject(line.event) : undefined
  const delta = event?.type === 'content_block_delta' ? asObject(event.delta) : undefined
  const voice = delta?.type === 'text_delta' ? 'message' : delta?.type === 'thinking_delta' ? 'thinking' : undefined
  const piece = voice && textOf(voice === 'message' ? delta?.text : delta?.thinking)
  // The input of a long tool call is written for minutes, and nobody is shown it before it is whole.
  return voice && piece ? { events: [], grown: { voice, piece: clean(piece) } } : news
}

function callOf(message: Fields | undefined, isOwn: boolean): ModelCall | undefined {
  const id = textOf(message?.id)
  const counts = TokenCounts.safeParse(message?.usage)
  const model = textOf(message?.model)
  const named = model === undefined ? undefined : cut(model, 200)
  return id !== undefined && counts.success ? { id, model: named, isOwn, ...counts.data } : undefined
}

/** In the user's name come the returns of tools, and notes of the program to the model, which are nobody's business. */
function fromUser(line: Fields): Heard {
  const content = asObject(line.message)?.content
  if (!Array.isArray(content)) return typeof content === 'string' ? nothing : unknown
  const events: AgentEvent[] = []
  for (const value of content) {
    const block = asObject(value)
    if (block?.type === 'tool_result') events.push(returned(block))
  }
  return events.length > 0 ? { events } : nothing
}

function fromSystem(line: Fields): Heard {
  switch (line.subtype) {
    case 'init':
      return { events: [], session: sessionOf(line) }
    case 'api_retry':
      return { events: [retrying(line)] }
    case 'compact_boundary': {
      const about = asObject(line.compact_metadata)
      const tokensBefore = numberOf(about?.pre_tokens)
      const trigger = cut(textOf(about?.trigger) ?? 'unknown', 100)
      return { events: [{ type: 'agent.compacted', data: { trigger, ...(tokensBefore !== undefined && { tokensBefore }) } }] }
    }
    case 'background_tasks_changed':
      return Array.isArray(line.tasks) ? { events: [], background: line.tasks.length } : unknown
    default:
      return line.subtype === 'thinking_tokens' ? news : dullLine(line.subtype, dullSystem)
  }
}

function retrying(line: Fields): AgentEvent {
  const of = numberOf(line.max_retries)
  const delayMs = numberOf(line.retry_delay_ms)
  const reason = [line.error_status, line.error].filter((part) => typeof part === 'number' || typeof part === 'string')
  return {
    type: 'agent.retrying',
    data: {
      attempt: numberOf(line.attempt) ?? 1,
      ...(of !== undefined && { of }),
      ...(delayMs !== undefined && { delayMs }),
      detail: cut(reason.join(' ') || 'unknown', 200),
    },
  }
}

function fromResult(line: Fields): Heard {
  const read = Result.safeParse(line)
  if (!read.success) return unknown
  // A result without success may carry the id of a conversation that does not exist.
  return { events: [], result: read.data, session: isGood(read.data) ? sessionOf(line) : undefined }
}

function fromRequest(line: Fields): Heard {
  const fields = asObject(line.request)
  const id = textOf(line.request_id)
  if (id === undefined) return unknown
  return { events: [], request: { id, subtype: textOf(fields?.subtype) ?? '', fields: fields ?? {} } }
}

function called(block: Fields, line: Fields): AgentEvent {
  const tool = cut(textOf(block.name) ?? 'unknown', 1024)
  const parent = isMain(line) ? {} : { parent: idOf(line.parent_tool_use_id) }
  return { type: 'agent.tool_called', data: { callId: idOf(block.id), tool, input: harmless(block.input ?? null), ...parent } }
}

function returned(block: Fields): AgentEvent {
  const output = cut(outputOf(block.content), pieceChars)
  return { type: 'agent.tool_returned', data: { callId: idOf(block.tool_use_id), output, isError: block.is_error === true } }
}

/** Text, or blocks of which only the texts can be shown. */
function outputOf(content: unknown): string {
  if (typeof content === 'string') return content
  if (!Array.isArray(content)) return content === undefined ? '' : (JSON.stringify(content) ?? '')
  const parts = content.map((value) => {
    const block = asObject(value)
    return block?.type === 'text' ? (textOf(block.text) ?? '') : `[${textOf(block?.type) ?? 'unknown'}]`
  })
  return parts.join('\n')
}

/** Only a refusal: the program also tells of limits that are far away. */
function resetOf(info: unknown): Date | undefined {
  const limit = asObject(info)
  const seconds = limit?.status === 'rejected' ? numberOf(limit.resetsAt) : undefined
  return seconds === undefined || seconds > 1e11 ? undefined : new Date(seconds * 1000)
}

const isMain = (line: Fields) => line.parent_tool_use_id === null || line.parent_tool_use_id === undefined
const sessionOf = (line: Fields) => {
  const id = textOf(line.session_id)
  return id === undefined ? undefined : cut(id, 1024)
}
const idOf = (value: unknown) => clean((textOf(value) ?? '').slice(0, 1024))

export const textOf = (value: unknown) => (typeof value === 'string' ? value : undefined)
const numberOf = (value: unknown) => (typeof value === 'number' && Number.isFinite(value) ? value : undefined)
