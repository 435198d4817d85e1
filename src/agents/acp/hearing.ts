import { asObject, type Fields } from '../../domain/base/object.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { Turn } from '../port.ts'
import { list, text } from '../shared/fields.ts'
import { createPlan } from '../shared/plan.ts'
import { createTextFlow, createTextKeeper, cut, pieceChars, sendPieces, type TextKeeper } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { asideOf } from './asides.ts'
import {
  blockText,
  type Call,
  isFailed,
  isKnown,
  isOver,
  mergeCall,
  outputOf,
  terminalPiece,
  terminalsOf,
  toolOf,
} from './calls.ts'
import type { Habits } from './habits.ts'
import { createSpeech } from './speech.ts'
import { type CostMeter, callUsage } from './usage.ts'

/** What the program says during one turn. */
export interface Hearing {
  updated(update: Fields, line: string): Promise<void>
  notUnderstood(line: string): Promise<void>
  paused(): Promise<void>
  stderr(chunk: Buffer): Promise<void>
  session(vendorId: string): Promise<void>
  /** A call for which permission is asked, with all that is known of it; it is told before the answer is. */
  asked(update: Fields): Promise<{ readonly tool: string; readonly input: unknown }>
  /** Tells what was used. */
  use(used: { readonly usage: Usage; readonly costUsd?: number }): Promise<void>
  readonly complaints: TextKeeper
  /** The message that is being said is complete. */
  pause(): Promise<void>
  /** What was said so far is not the answer: that comes after what was just refused. */
  notAnswered(): void
  /** Sends what is still held; what comes later is not told any more. */
  end(): Promise<void>
  /** What calls of the model used, as far as they were told one by one. */
  used(): Usage | undefined
  /** Why the turn failed, if the program says that it did though the turn ended well. */
  failure(): string | undefined
  answer(): string
  soFar(): string
}

export interface HearingParts {
  readonly habits: Habits
  readonly cost: CostMeter
  readonly model: () => string | undefined
  readonly terminal?: ((id: string) => string | undefined) | undefined
}

export function hear(turn: Turn, { habits, cost, model, terminal }: HearingParts): Hearing {
  // Events come from what is read and from what is answered: one at a time all the same.
  let emitted: Promise<unknown> = Promise.resolve()
  let isClosed = false
  const emit: Turn['emit'] = (event) => {
    const now = emitted.then(() => (isClosed ? undefined : turn.emit(event)))
    emitted = now.catch(() => {})
    return now
  }
  const unknown = createUnknownLines({ ...turn, emit })
  const { complete, ...speech } = createSpeech({ emit, grow: turn.grow }, unknown.flush)
  const complaints = createTextKeeper(16_384)
  const plain = habits.stderr ?? ((lines: string) => lines)
  const stderr = createTextFlow({
    keep: { add: (lines) => complaints.add(plain(lines)), text: complaints.text },
    send(lines) {
      const said = plain(lines)
      if (said.trim() !== '') return emit({ type: 'agent.stderr', data: { text: said } })
    },
  })
  const calls = new Map<string, Call & { isTold: boolean }>()
  const terminals = new Map<string, TextKeeper>()
  const tellPlan = createPlan(emit)
  let used: Usage | undefined
  let retries = 0

  async function tell(call: Call & { isTold: boolean }): Promise<void> {
    if (call.isTold) return
    call.isTold = true
    const { tool, input } = toolOf(call, habits)
    await emit({ type: 'agent.tool_called', data: { callId: call.callId, tool, input } })
  }
  const keeperOf = (id: string) => {
    const keeper = terminals.get(id) ?? createTextKeeper(pieceChars)
    terminals.set(id, keeper)
    return keeper
  }
  const shownIn = (id: string) => terminal?.(id) ?? terminals.get(id)?.text()
  async function takeCall(update: Fields): Promise<void> {
    await complete()
    await unknown.flush()
    const id = text(update.toolCallId) ?? ''
    const before = calls.get(id)
    if (before && isOver(before)) return
    const piece = terminalPiece(update)
    if (piece) keeperOf(piece.id).add(piece.data)
    const call = { ...mergeCall(before, update), isTold: before?.isTold ?? false }
    calls.set(id, call)
    if (isKnown(call)) await tell(call)
    if (!isOver(call)) return turn.sign?.('call')
    const output = outputOf(call, shownIn)
    // A long turn has thousands of them, each with all that it read or wrote.
    calls.set(id, { callId: call.callId, told: { status: call.told.status }, isTold: true })
    for (const shown of terminalsOf(call)) terminals.delete(shown)
    await emit({ type: 'agent.tool_returned', data: { callId: call.callId, output, isError: isFailed(call) } })
  }

  async function use(data: { readonly usage: Usage; readonly costUsd?: number }): Promise<void> {
    const name = model()
    if (data.usage !== noUsage) used = addUsage(used ?? noUsage, data.usage)
    await emit({ type: 'agent.usage', data: { ...data, ...(name === undefined ? {} : { model: name }) } })
  }

  async function takePlan(update: Fields): Promise<void> {
    await complete()
    await unknown.flush()
    await tellPlan(
      list(update.entries).map((entry) => {
        const { content, status } = asObject(entry) ?? {}
        return { text: text(content) ?? '', status }
      }),
    )
  }

  return {
    use,
    complaints,
    async updated(update, line) {
      switch (update.sessionUpdate) {
        case 'agent_message_chunk': {
          const call = callUsage(update)
          if (call) await use({ usage: call })
          return speech.say('agent.message', text(update.messageId), blockText(update.content))
        }
        case 'agent_thought_chunk':
          return speech.say('agent.thinking', text(update.messageId), blockText(update.content))
        case 'tool_call':
        case 'tool_call_update':
          return typeof update.toolCallId === 'string' ? takeCall(update) : unknown.add(line)
        case 'plan':
          return takePlan(update)
        case 'usage_update': {
          const costUsd = cost.update(update, true)
          return costUsd === undefined ? undefined : use({ usage: noUsage, costUsd })
        }
        case 'current_mode_update':
          await complete()
          return emit({
            type: 'agent.thinking',
            data: { text: `It goes on in the mode "${cut(text(update.currentModeId) ?? '', 200)}".` },
          })
        case 'compaction_update':
          if (update.status === 'completed') await emit({ type: 'agent.compacted', data: { trigger: 'auto' } })
          return
        case 'notice':
          await complete()
          return sendPieces(text(update.message) ?? line, (piece) => emit({ type: 'agent.stderr', data: { text: piece } }))
        case 'session_info_update': {
          const aside = asideOf(update)
          if (aside?.kind === 'failed') speech.fails()
          if (aside?.kind !== 'retrying') return
          retries++
          return emit({ type: 'agent.retrying', data: { attempt: retries, detail: cut(aside.detail, 1000) } })
        }
        default:
          if (!saysNothing.has(text(update.sessionUpdate) ?? '') && !habits.ignores?.(update)) await unknown.add(line)
      }
    },
    notUnderstood: (line) => unknown.add(line),
    paused: () => unknown.flush(),
    stderr: (chunk) => stderr.push(chunk),
    session: async (vendorId) => emit({ type: 'agent.session', data: { vendorId } }),
    async asked(update) {
      await complete()
      const id = text(update.toolCallId) ?? ''
      const before = calls.get(id)
      // What is shown with it is the question, not what the tool gives back.
      const { content, ...rest } = update
      const call = { ...mergeCall(before, rest), isTold: before?.isTold ?? false }
      // Some ask without telling of the call, and some never tell of it.
      calls.set(id, call)
      const shown = { ...mergeCall(call, { toolCallId: id, content }), isTold: call.isTold }
      await tell(shown)
      call.isTold = true
      return toolOf(shown, habits)
    },
    pause: complete,
    notAnswered: speech.notAnswered,
    async end() {
      await complete()
      await unknown.flush()
      await stderr.end()
      await emitted
      isClosed = true
    },
    used: () => used,
    failure: speech.failure,
    answer: speech.answer,
    soFar: speech.soFar,
  }
}

/** Our own words come back when a conversation is loaded; the others are about menus. */
const saysNothing = new Set([
  'user_message_chunk',
  'available_commands_update',
  'config_option_update',
  'compaction_summary_chunk',
])

/** Does it tell that the program is at work? Between two turns it may not be. */
export const isActivity = (update: Fields) =>
  update.sessionUpdate === 'tool_call' ||
  update.sessionUpdate === 'agent_message_chunk' ||
  update.sessionUpdate === 'agent_thought_chunk'
