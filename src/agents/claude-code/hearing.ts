import type { AgentEvent } from '../../domain/event/event.ts'
import type { Usage } from '../../domain/money/usage.ts'
import type { Line } from '../../sandbox/process/lines.ts'
import type { Turn } from '../port.ts'
import { clean, createTextKeeper } from '../shared/text.ts'
import { createUnknownLines } from '../shared/unknown.ts'
import { answerRequest } from './requests.ts'
import type { Result } from './result.ts'
import type { ToolPipe } from './tools.ts'
import { type ControlRequest, translate } from './translate.ts'
import { createUsageTeller } from './usage.ts'

/** What the program says during one turn: passed on as events, answered where it asks, and remembered for the verdict. */
export interface Hearing {
  line(line: Line): Promise<void>
  stderr(text: string): Promise<void>
  /** Nothing more is at hand for now. */
  paused(): Promise<void>
  /** Resolves with the line that ends the turn. */
  readonly over: Promise<Result>
  /** What comes from here on does not belong to the turn. */
  readonly isOver: boolean
  /** From here on nothing is recorded; resolves when everything before is. */
  end(): Promise<void>
  spoken(): string
  /** What the messages heard so far used; only the result tells all of it. */
  usage(): Usage | undefined
  readonly session: string | undefined
  readonly resetsAt: Date | undefined
  readonly asked: boolean
  readonly background: number
}

/** Whom the hearing listens to. */
export interface Program {
  send(message: object): void
  interrupt(): void
  readonly tools: ToolPipe
  /** How many commands the agent had left running before. */
  readonly background: number
}

export function hear(turn: Turn, program: Program): Hearing {
  const over = Promise.withResolvers<Result>()
  const spoken = createTextKeeper()
  const questions = new Set<string>()
  const usage = createUsageTeller()
  let session: string | undefined
  let resetsAt: Date | undefined
  let asked = false
  let background = program.background
  let isOver = false
  let recorded: Promise<void> = Promise.resolve()

  // Both outputs are read at the same time, and facts are recorded one after the other.
  function emit(event: AgentEvent): Promise<void> {
    if (!isOver) recorded = recorded.then(() => turn.emit(event))
    return recorded
  }
  const unknown = createUnknownLines({ ...turn, emit })

  async function record(event: AgentEvent): Promise<void> {
    await unknown.flush()
    await emit(event)
    // Only now does the conversation hold our answer; an earlier interruption would replace it by a plain refusal.
    if (event.type === 'agent.tool_returned' && questions.delete(event.data.callId)) program.interrupt()
  }
  async function respond(request: ControlRequest): Promise<void> {
    const { reply, asked: call } = await answerRequest(request, turn, program.tools)
    if (isOver) return
    if (call !== undefined) {
      asked = true
      questions.add(clean(call))
    }
    program.send(reply)
  }

  return {
    over: over.promise,
    async line(line) {
      if (isOver || line.text.trim() === '') return
      const heard = translate(line)
      if (heard.sign) turn.sign?.(heard.sign)
      if (heard.grown) return turn.grow?.(heard.grown.voice, heard.grown.piece)
      if (heard.session !== undefined && heard.session !== session) {
        session = heard.session
        await record({ type: 'agent.session', data: { vendorId: session } })
      }
      if (heard.said !== undefined) spoken.add(heard.said)
      // Before what the message says, so that everything up to the next figures belongs to it.
      for (const event of heard.call ? usage.called(heard.call) : []) await record(event)
      resetsAt = heard.resetsAt ?? resetsAt
      background = heard.background ?? background
      for (const event of heard.events) await record(event)
      if (heard.isUnknown) await unknown.add(line.text)
      // Not awaited: a decision may take its time, and the program goes on with other things meanwhile.
      if (heard.request) void respond(heard.request)
      if (!heard.result) return
      for (const event of usage.ended(heard.result)) await record(event)
      await unknown.flush()
      over.resolve(heard.result)
      isOver = true
    },
    stderr: (text) => emit({ type: 'agent.stderr', data: { text } }),
    paused: () => unknown.flush(),
    async end() {
      await unknown.flush()
      isOver = true
      await recorded
    },
    spoken: () => spoken.text(),
    usage: usage.soFar,
    get isOver() {
      return isOver
    },
    get session() {
      return session
    },
    get resetsAt() {
      return resetsAt
    },
    get asked() {
      return asked
    },
    get background() {
      return background
    },
  }
}
