import type { CallFacts } from '../gateway/money/purse.ts'
import { conventionalName } from '../gateway/wires/conventional-name.ts'
import type { RunTold, TaskTold, ToolTold } from '../store/spans.ts'
import { callIdOf } from './contexts.ts'
import { attributes, nanos, type Span, spanIdOf, turnIdOf } from './span.ts'
import type { SpannedRun, TurnSpan } from './telemetry.ts'
import { traceOf } from './trace.ts'

const failedStatus = { status: { code: 2 as const } }
const toolIdOf = (run: string, call: string, atMs?: number) => spanIdOf(`${run} tool ${call} ${atMs ?? ''}`)

/** The root of what its runs did; that of a subtask lies below the one of its parent, any other below the span of whoever asked, if one came along. */
export function taskSpan(told: TaskTold, endedAtMs: number): Span {
  const isWell = told.state === 'completed'
  const above = told.parent === null ? traceOf(told).above : spanIdOf(told.parent)
  return {
    traceId: traceOf(told).traceId,
    spanId: spanIdOf(told.task),
    ...(above === undefined ? {} : { parentSpanId: above }),
    name: `task ${told.agent}`,
    kind: 1,
    startTimeUnixNano: nanos(told.createdAt.getTime()),
    endTimeUnixNano: nanos(told.endedAt?.getTime() ?? endedAtMs),
    attributes: attributes({
      ...whose(told),
      'pawl.task.state': told.state,
      'pawl.runs': told.runs,
      'error.type': isWell ? undefined : told.state,
    }),
    ...(isWell || told.state === 'cancelled' ? {} : failedStatus),
  }
}

const well: readonly (string | null)[] = ['succeeded', 'partial', 'blocked']

/** A run with its turn and the tools that the agent used in it. `seen` is when the turn was, if it was had in this process. */
export function runSpans(told: RunTold, endedAtMs: number, provider: string | undefined, seen?: TurnSpan): Span[] {
  const endMs = told.endedAt?.getTime() ?? endedAtMs
  const startMs = told.startedAt?.getTime() ?? endMs
  const isWell = well.includes(told.outcome)
  const run: Span = {
    traceId: traceOf(told).traceId,
    spanId: spanIdOf(told.run),
    parentSpanId: spanIdOf(told.task),
    name: `run ${told.agent}`,
    kind: 1,
    startTimeUnixNano: nanos(startMs),
    endTimeUnixNano: nanos(endMs),
    attributes: attributes({
      ...whose(told),
      'pawl.run': told.run,
      'pawl.attempt': told.attempt,
      'pawl.outcome': told.outcome ?? undefined,
      'pawl.cost_usd': told.costUsd ?? undefined,
      'error.type': isWell ? undefined : (told.category ?? told.outcome ?? undefined),
    }),
    ...(isWell ? {} : failedStatus),
  }
  // Whoever had it has died: the run's own times are the nearest that is known.
  const turn =
    seen ?? (told.lastSaidAt && { run: told.run, startedAtMs: startMs, endedAtMs: Math.max(startMs, told.lastSaidAt.getTime()) })
  return turn ? [run, turnSpan(told, turn, provider), ...told.tools.map((tool) => toolSpan(told, tool, turn.endedAtMs))] : [run]
}

function turnSpan(told: RunTold, turn: TurnSpan, provider: string | undefined): Span {
  const { usage } = told
  const isWell = well.includes(told.outcome)
  return {
    traceId: traceOf(told).traceId,
    spanId: turnIdOf(told.run),
    parentSpanId: spanIdOf(told.run),
    name: `invoke_agent ${told.agent}`,
    kind: 1,
    startTimeUnixNano: nanos(turn.startedAtMs),
    endTimeUnixNano: nanos(turn.endedAtMs),
    attributes: attributes({
      'gen_ai.operation.name': 'invoke_agent',
      'gen_ai.provider.name': provider,
      ...whose(told),
      'pawl.run': told.run,
      'gen_ai.request.model': told.config.model,
      'gen_ai.response.model': told.answeredBy ?? undefined,
      // The conventions count what came from the cache, or went into it, as input too.
      'gen_ai.usage.input_tokens': usage ? usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens : undefined,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
      'error.type': isWell ? undefined : (told.category ?? told.outcome ?? undefined),
    }),
    ...(isWell ? {} : failedStatus),
  }
}

/** One that never returned has lasted as long as the turn. */
function toolSpan(told: RunTold, tool: ToolTold, turnEndedMs: number): Span {
  const calledMs = tool.calledAt.getTime()
  const above = told.tools.findLast(({ call, calledAt }) => call === tool.within && calledAt <= tool.calledAt)
  const failed = tool.returnedAt ? (tool.isError ? 'tool_error' : undefined) : 'no_answer'
  return {
    traceId: traceOf(told).traceId,
    spanId: toolIdOf(told.run, tool.call, calledMs),
    parentSpanId: above ? toolIdOf(told.run, above.call, above.calledAt.getTime()) : turnIdOf(told.run),
    name: `execute_tool ${tool.tool}`,
    kind: 1,
    startTimeUnixNano: nanos(calledMs),
    endTimeUnixNano: nanos(Math.max(calledMs, tool.returnedAt?.getTime() ?? turnEndedMs)),
    attributes: attributes({
      'gen_ai.operation.name': 'execute_tool',
      'gen_ai.tool.name': tool.tool,
      'gen_ai.tool.call.id': tool.call,
      ...whose(told),
      'pawl.run': told.run,
      'error.type': failed,
    }),
    ...(failed === undefined ? {} : failedStatus),
  }
}

export function callSpan(run: SpannedRun, call: CallFacts): Span {
  const { route, usage, refusal } = call
  const startedMs = call.startedAt.getTime()
  const failed = refusal?.kind ?? (call.status === undefined ? 'no_answer' : undefined)
  return {
    traceId: traceOf(run).traceId,
    spanId: callIdOf(run.run, call),
    parentSpanId: turnIdOf(run.run),
    name: `chat ${route.target}`,
    kind: 3,
    startTimeUnixNano: nanos(startedMs),
    endTimeUnixNano: nanos(startedMs + call.durationMs),
    attributes: attributes({
      'gen_ai.operation.name': 'chat',
      ...whose(run),
      'pawl.run': run.run,
      'gen_ai.provider.name': conventionalName[route.provider.wire] ?? route.provider.name,
      'gen_ai.request.model': call.asked,
      'gen_ai.response.model': route.target,
      'gen_ai.request.stream': call.streamed,
      'server.address': hostOf(route.provider.baseUrl),
      'gen_ai.response.time_to_first_chunk': call.firstMs === undefined ? undefined : call.firstMs / 1_000,
      'gen_ai.usage.input_tokens': usage && usage.inputTokens + usage.cacheReadTokens + usage.cacheWriteTokens,
      'gen_ai.usage.output_tokens': usage?.outputTokens,
      'gen_ai.usage.cache_read.input_tokens': usage?.cacheReadTokens,
      'gen_ai.usage.cache_creation.input_tokens': usage?.cacheWriteTokens,
      'gen_ai.usage.reasoning.output_tokens': usage?.reasoningTokens,
      'http.response.status_code': call.status,
      'pawl.provider': route.provider.name,
      'pawl.call': call.number,
      'pawl.translated': call.translated,
      'error.type': failed,
    }),
    ...(failed === undefined ? {} : failedStatus),
  }
}

const whose = ({ agent, session, task }: { agent: string; session: string; task: string }) => ({
  'gen_ai.agent.id': agent,
  'gen_ai.agent.name': agent,
  'gen_ai.conversation.id': session,
  'pawl.task': task,
})

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : undefined)
