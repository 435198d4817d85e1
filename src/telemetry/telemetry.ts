import type { Clock } from '../clock.ts'
import type { CallFacts } from '../gateway/money/purse.ts'
import { conventionalName } from '../gateway/wires/conventional-name.ts'
import type { Log } from '../log.ts'
import { createExporter } from './exporter.ts'
import { otlpSettings } from './settings.ts'
import { attributes, nanos, type Span, spanIdOf, traceIdOf } from './span.ts'

/** Tells whoever collects OpenTelemetry spans what runs do and which models they call. Sends no prompt, no answer and no tool input. */
export interface Telemetry {
  run(run: RunSpan): void
  call(run: SpannedRun, call: CallFacts): void
  stop(): Promise<void>
}

/** Whose span it is. A task and everything below it is one trace. */
export interface SpannedRun {
  readonly run: string
  readonly task: string
  readonly root: string
  readonly session: string
  readonly agent: string
}

export interface RunSpan extends SpannedRun {
  readonly model?: string | undefined
  readonly startedAtMs: number
  readonly endedAtMs: number
  readonly outcome: string
  readonly category?: string | undefined
  readonly inputTokens?: number | undefined
  readonly outputTokens?: number | undefined
  readonly costUsd?: number | undefined
}

/** Undefined where nobody wants it. `said` are the variables that OpenTelemetry knows, as far as they are set. */
export function createTelemetry(options: {
  said: Readonly<Record<string, string>>
  version: string
  clock: Clock
  log: Log
}): Telemetry | undefined {
  const settings = otlpSettings(options.said, options.log)
  if (!settings) return undefined
  const exporter = createExporter({ ...options, settings })
  return {
    run: (run) => exporter.send(runSpan(run)),
    call: (run, call) => exporter.send(callSpan(run, call)),
    stop: exporter.stop,
  }
}

function runSpan(run: RunSpan): Span {
  const isWell = ['succeeded', 'partial', 'blocked'].includes(run.outcome)
  return {
    traceId: traceIdOf(run.root),
    spanId: spanIdOf(run.run),
    name: `invoke_agent ${run.agent}`,
    kind: 1,
    startTimeUnixNano: nanos(run.startedAtMs),
    endTimeUnixNano: nanos(run.endedAtMs),
    attributes: attributes({
      ...common(run, 'invoke_agent'),
      'gen_ai.request.model': run.model,
      'gen_ai.usage.input_tokens': run.inputTokens,
      'gen_ai.usage.output_tokens': run.outputTokens,
      'pawl.outcome': run.outcome,
      'pawl.cost_usd': run.costUsd,
      'error.type': isWell ? undefined : (run.category ?? run.outcome),
    }),
    ...(isWell ? {} : { status: { code: 2 as const } }),
  }
}

function callSpan(run: SpannedRun, call: CallFacts): Span {
  const { route, usage, refusal } = call
  const startedMs = call.startedAt.getTime()
  const failed = refusal?.kind ?? (call.status === undefined ? 'no_answer' : undefined)
  return {
    traceId: traceIdOf(run.root),
    // A call that was held, or that another provider was asked for in the end, was made more than once.
    spanId: spanIdOf(`${run.run} ${call.number} ${startedMs}`),
    parentSpanId: spanIdOf(run.run),
    name: `chat ${route.target}`,
    kind: 3,
    startTimeUnixNano: nanos(startedMs),
    endTimeUnixNano: nanos(startedMs + call.durationMs),
    attributes: attributes({
      ...common(run, 'chat'),
      'gen_ai.provider.name': conventionalName[route.provider.wire] ?? route.provider.name,
      'gen_ai.request.model': call.asked,
      'gen_ai.response.model': route.target,
      'gen_ai.request.stream': call.streamed,
      'server.address': hostOf(route.provider.baseUrl),
      'gen_ai.response.time_to_first_chunk': call.firstMs === undefined ? undefined : call.firstMs / 1_000,
      // The conventions count what came from the cache, or went into it, as input too.
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
    ...(failed === undefined ? {} : { status: { code: 2 as const } }),
  }
}

const common = (run: SpannedRun, operation: string) => ({
  'gen_ai.operation.name': operation,
  'gen_ai.agent.name': run.agent,
  'gen_ai.conversation.id': run.session,
  'pawl.task': run.task,
  'pawl.run': run.run,
})

const hostOf = (url: string) => (URL.canParse(url) ? new URL(url).hostname : undefined)
