import { asObject, type Fields } from '../../domain/base/object.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import { Usage } from '../../domain/money/usage.ts'
import type { Line } from '../../sandbox/process/lines.ts'
import type { Turn } from '../port.ts'
import { count, text } from '../shared/fields.ts'
import { harmless } from '../shared/harmless.ts'
import { parseLine } from '../shared/json.ts'
import { clean, createTextKeeper, cut, pieceChars, sendPieces } from '../shared/text.ts'
import { toolName } from './tools.ts'
import type { Failure } from './verdict.ts'

export type Result = { readonly ok: true } | { readonly ok: false; readonly failure: Failure }

/** Turns the lines of stream-json into events. */
export interface Translator {
  /** False: not understood. */
  take(line: Line): Promise<boolean>
  /** Sends what is still held. */
  end(): Promise<void>
  answer(): string
  soFar(): string
  usage(): Usage | undefined
  readonly session: string | undefined
  readonly result: Result | undefined
}

export function createTranslator(emit: Turn['emit'], grow?: Turn['grow'], servers: readonly string[] = []): Translator {
  const spoken = createTextKeeper()
  let last = createTextKeeper()
  let held = ''
  let isNew = true
  let rounds = 1
  let returned = false
  let session: string | undefined
  let result: Result | undefined
  let usage: Usage | undefined

  /** What the model says after a tool has returned, it says in another call. */
  function beginsRound(): void {
    if (returned) rounds++
    returned = false
  }
  async function say(piece: string): Promise<void> {
    beginsRound()
    if (isNew) last = createTextKeeper()
    isNew = false
    last.add(piece)
    spoken.add(piece)
    held += piece
    grow?.('message', clean(piece))
    if (held.length >= pieceChars) await send()
  }
  async function send(): Promise<void> {
    const now = held
    held = ''
    await sendPieces(now, (text) => emit({ type: 'agent.message', data: { text } }))
  }
  async function complete(): Promise<void> {
    await send()
    if (!isNew) spoken.add('\n')
    isNew = true
  }
  async function takeResult(event: Fields): Promise<boolean> {
    if (event.status !== 'success' && event.status !== 'error') return false
    await complete()
    const error = asObject(event.error)
    result =
      event.status === 'success'
        ? { ok: true }
        : { ok: false, failure: { message: text(error?.message) ?? 'It gave no reason.', type: text(error?.type) } }
    for (const [model, told] of modelsOf(asObject(event.stats))) {
      const used = readCounts(told)
      if (!used) continue
      const counted = { ...used, turns: usage === undefined ? rounds : 0 }
      usage = addUsage(usage ?? noUsage, counted)
      await emit({ type: 'agent.usage', data: { usage: counted, model: cut(model, 200) } })
    }
    return true
  }

  return {
    async take(line) {
      const parsed = parseLine(line)
      const event = 'value' in parsed ? asObject(parsed.value) : undefined
      switch (event?.type) {
        case 'init':
          if (typeof event.session_id !== 'string') return false
          session = cut(event.session_id, 1024)
          await emit({ type: 'agent.session', data: { vendorId: session } })
          return true
        case 'message':
          // Our own words come first.
          if (event.role === 'user') return true
          if (event.role !== 'assistant' || typeof event.content !== 'string') return false
          await say(text(event.content) ?? '')
          return true
        case 'tool_use':
          await complete()
          beginsRound()
          await emit({
            type: 'agent.tool_called',
            data: {
              callId: cut(text(event.tool_id) ?? '', 1024),
              tool: cut(toolName(text(event.tool_name) ?? 'unknown', servers), 1024),
              input: harmless(event.parameters ?? null),
            },
          })
          return true
        case 'tool_result': {
          await complete()
          returned = true
          const isError = event.status !== 'success'
          const output = text(event.output) ?? text(asObject(event.error)?.message) ?? ''
          const callId = cut(text(event.tool_id) ?? '', 1024)
          await emit({ type: 'agent.tool_returned', data: { callId, output: cut(output, pieceChars), isError } })
          return true
        }
        case 'error':
          if (typeof event.message !== 'string') return false
          await complete()
          await emit({ type: 'agent.stderr', data: { text: cut(event.message, pieceChars) } })
          return true
        case 'result':
          return takeResult(event)
        default:
          return false
      }
    },
    end: complete,
    answer: () => last.text().trim(),
    soFar: () => spoken.text().trim(),
    usage: () => usage,
    get session() {
      return session
    },
    get result() {
      return result
    },
  }
}

/** What each model used, or all of them together under no name. */
const modelsOf = (stats: Fields | undefined): [string, Fields][] =>
  Object.entries(asObject(stats?.models) ?? {}).flatMap(([model, told]) => {
    const counts = asObject(told)
    return counts ? [[model, counts]] : []
  })

/** What is neither input nor told as output was thought, and is paid as output. */
function readCounts(told: Fields): Usage | undefined {
  const input = count(told.input_tokens)
  if (input === undefined || (input === 0 && !count(told.total_tokens))) return undefined
  const cached = Math.min(count(told.cached) ?? 0, input)
  const output = Math.max((count(told.total_tokens) ?? 0) - input, count(told.output_tokens) ?? 0)
  return Usage.parse({ inputTokens: input - cached, cacheReadTokens: cached, outputTokens: output })
}
