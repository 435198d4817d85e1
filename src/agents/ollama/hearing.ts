import type { AgentEvent } from '../../domain/event/event.ts'
import { addUsage, noUsage } from '../../domain/money/cost.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { Line } from '../../sandbox/process/lines.ts'
import type { Turn } from '../port.ts'
import { harmless } from '../shared/harmless.ts'
import { parseLine } from '../shared/json.ts'
import { clean, createTextFlow, createTextKeeper, cut, pieceChars, sendPieces, type TextKeeper } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { LoopRecord, type LoopResult } from './records.ts'

/** What the loop says during one turn: passed on as events, and remembered for the verdict. */
export interface Hearing {
  line(line: Line): Promise<void>
  stderr(chunk: Buffer): Promise<void>
  note(text: string): Promise<void>
  paused(): Promise<void>
  /** Resolves with the record that ends the turn. */
  readonly over: Promise<LoopResult>
  /** From here on nothing is recorded; resolves when everything before is. */
  end(): Promise<void>
  spoken(): string
  readonly complaints: TextKeeper
  readonly session: string | undefined
  readonly usage: Usage | undefined
  readonly notUnderstood: string | undefined
}

export interface Heard {
  readonly model: string | undefined
  /** What one call of it costs, if that is known. */
  readonly costUsd: number | undefined
  wants(call: Wanted): void
}

export function hear(turn: Turn, { model, costUsd, wants }: Heard): Hearing {
  const over = Promise.withResolvers<LoopResult>()
  const spoken = createTextKeeper()
  const complaints = createTextKeeper(16_384)
  let session: string | undefined
  let usage: Usage | undefined
  let notUnderstood: string | undefined
  let isOver = false
  let recorded: Promise<void> = Promise.resolve()

  // Both outputs are read at the same time, and facts are recorded one after the other.
  function emit(event: AgentEvent): Promise<void> {
    if (!isOver) recorded = recorded.then(() => turn.emit(event))
    return recorded
  }
  const unknown = createUnknownLines({ ...turn, emit })
  const flow = createTextFlow({ keep: complaints, send: (text) => emit({ type: 'agent.stderr', data: { text } }) })

  async function take(record: LoopRecord): Promise<void> {
    switch (record.type) {
      case 'session':
        session = clean(record.id)
        return emit({ type: 'agent.session', data: { vendorId: session } })
      case 'text':
        spoken.add(`${record.text}\n`)
        return sendPieces(record.text, (text) => emit({ type: 'agent.message', data: { text } }))
      case 'thinking':
        return sendPieces(record.text, (text) => emit({ type: 'agent.thinking', data: { text } }))
      case 'piece':
        return turn.grow?.(record.voice, clean(record.text))
      case 'note':
        return emit({ type: 'agent.stderr', data: { text: cut(record.text, pieceChars) } })
      case 'tool':
        return emit({
          type: 'agent.tool_called',
          data: { callId: clean(record.id), tool: cut(record.name, 1_024), input: harmless(record.input) },
        })
      case 'tool_result':
        return emit({
          type: 'agent.tool_returned',
          data: { callId: clean(record.id), output: cut(record.output, pieceChars), isError: record.isError },
        })
      case 'wants':
        // Not awaited: a decision may take its time, and other calls go on meanwhile.
        return wants({ id: record.id, tool: clean(record.tool), input: record.input })
      case 'usage': {
        const used = {
          inputTokens: record.inputTokens,
          outputTokens: record.outputTokens,
          cacheReadTokens: 0,
          cacheWriteTokens: 0,
          turns: 1,
        }
        usage = addUsage(usage ?? noUsage, used)
        return emit({
          type: 'agent.usage',
          data: { usage: used, ...(costUsd === undefined ? {} : { costUsd }), ...(model === undefined ? {} : { model }) },
        })
      }
      case 'compacted':
        return emit({ type: 'agent.compacted', data: { trigger: 'window', tokensBefore: record.tokensBefore } })
      case 'result':
        over.resolve(record)
    }
  }

  return {
    over: over.promise,
    complaints,
    async line(line) {
      if (isOver || line.text.trim() === '') return
      const parsed = parseLine(line)
      const record = 'value' in parsed ? LoopRecord.safeParse(parsed.value).data : undefined
      if (record) {
        await unknown.flush()
        return take(record)
      }
      notUnderstood = cut(line.text, 200)
      await unknown.add(line.text)
    },
    stderr: (chunk) => flow.push(chunk),
    note: (text) => emit({ type: 'agent.stderr', data: { text } }),
    paused: () => unknown.flush(),
    async end() {
      await flow.end()
      await unknown.flush()
      isOver = true
      await recorded
    },
    spoken: () => spoken.text().trim(),
    get session() {
      return session
    },
    get usage() {
      return usage
    },
    get notUnderstood() {
      return notUnderstood
    },
  }
}

export interface Wanted {
  readonly id: string
  readonly tool: string
  readonly input: unknown
}
