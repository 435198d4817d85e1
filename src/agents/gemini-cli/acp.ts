import { asObject, type Fields } from '../../domain/base/object.ts'
import type { AgentEvent } from '../../domain/event/event.ts'
import { addUsage } from '../../domain/money/cost.ts'
import { Usage } from '../../domain/money/usage.ts'
import type { Child } from '../../sandbox/process/child.ts'
import { openAcp } from '../acp/conversation.ts'
import type { Habits } from '../acp/habits.ts'
import type { Conversation, LaunchSpec, Turn, Verdict } from '../port.ts'
import { count } from '../shared/fields.ts'
import { withoutNoise } from './complaints.ts'
import { holdSession } from './held-session.ts'
import type { GeminiCliOptions } from './options.ts'
import { shielded } from './prompt.ts'
import { createTally } from './tally.ts'
import { calledTool } from './tools.ts'
import { judgeFailure } from './verdict.ts'

const habitsFor = ({ servers }: Pick<LaunchSpec, 'servers'>): Habits => ({
  title: 'Gemini CLI',
  // It destroys the conversation that it should load.
  load: false,
  // They are in its settings.
  mcpServers: () => [],
  judge: ({ code, message }) => (code >= 400 && code < 600 ? judgeFailure({ message, status: code }) : undefined),
  usage: ownFigure,
  tool: (call) => calledTool(call, servers),
  stderr: withoutNoise,
})

/** Speaks to `gemini --acp`: one conversation, many turns, for as long as the process lives. */
export function openWarm(child: Child, spec: LaunchSpec<GeminiCliOptions>): Conversation {
  const conversation = openAcp(child, spec, habitsFor(spec))
  const tally = createTally(spec.home)
  const session = holdSession()
  return {
    ...conversation,
    async turn(turn) {
      const emit = (event: AgentEvent) => session.emit(event, turn.emit)
      const verdict = await conversation.turn({ ...turn, emit, prompt: shielded(turn.prompt) })
      if (verdict.mayGoOn && verdict.text !== '') await session.release(turn.emit)
      const counted = await withUsage(turn, verdict)
      return session.isTold ? counted : { ...counted, vendorSession: undefined }
    },
  }

  async function withUsage(turn: Turn, verdict: Verdict): Promise<Verdict> {
    const used = verdict.vendorSession === undefined ? new Map<string, Usage>() : new Map(await tally.take(verdict.vendorSession))
    if (used.size === 0 && verdict.usage) used.set(spec.model ?? '', verdict.usage)
    for (const [model, usage] of used)
      await turn.emit({ type: 'agent.usage', data: { usage, ...(model === '' ? {} : { model }) } })
    const usage = used.size === 0 ? undefined : [...used.values()].reduce(addUsage)
    return { ...verdict, usage }
  }
}

/** For when its file cannot be read. */
function ownFigure(answer: Fields): Usage | undefined {
  const told = asObject(asObject(asObject(answer._meta)?.quota)?.token_count)
  const inputTokens = count(told?.input_tokens)
  const outputTokens = count(told?.output_tokens)
  return inputTokens === undefined || outputTokens === undefined
    ? undefined
    : Usage.parse({ inputTokens, outputTokens, turns: 1 })
}
