import type { Clock } from '../base/clock.ts'
import type { Log } from '../base/log.ts'
import type { ResolvedAgent } from '../domain/agent/agent-config.ts'
import type { TraceContext } from '../domain/base/trace-context.ts'
import { messageOf } from '../domain/error.ts'
import type { Event } from '../domain/event/event.ts'
import { isEnded } from '../domain/task/task.ts'
import type { CallFacts } from '../gateway/money/purse.ts'
import type { Db } from '../store/database.ts'
import { readRunTold, readTaskTold } from '../store/spans.ts'
import { createExporter } from './exporter.ts'
import { otlpSettings } from './settings.ts'
import { callSpan, runSpans, taskSpan } from './spans.ts'
import { traceOf } from './trace.ts'

/** Tells whoever collects OpenTelemetry spans what tasks, runs, turns and tools do and which models they call. Sends no prompt, no answer and no tool input. */
export interface Telemetry extends Pick<Listener, 'turn' | 'call'> {
  /** Hears of everything that is stored, and tells of what has ended with it. */
  stored(events: readonly Event[]): void
  stop(): Promise<void>
}

/** Whoever is told of runs that have ended and calls that are over. */
export interface Listener {
  run(run: RunSpan): void
  turn(turn: TurnSpan): void
  call(run: SpannedRun, call: CallFacts): void
}

export const tellAll = (listeners: readonly Partial<Listener>[]): Listener => ({
  run(run) {
    for (const listener of listeners) listener.run?.(run)
  },
  turn(turn) {
    for (const listener of listeners) listener.turn?.(turn)
  },
  call(run, call) {
    for (const listener of listeners) listener.call?.(run, call)
  },
})

/** Whose span it is. A task and everything below it is one trace. */
export interface SpannedRun {
  readonly run: string
  readonly task: string
  readonly root: string
  readonly session: string
  readonly agent: string
  /** What the topmost task was asked for in. */
  readonly trace?: TraceContext | undefined
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

/** From the moment that the agent was told what to do until it rested. */
export interface TurnSpan {
  readonly run: string
  readonly startedAtMs: number
  readonly endedAtMs: number
}

/** Turns whose run has not ended in this process; one that was lost never does. */
const mostTurns = 1_000

/** Undefined where nobody wants it. `said` are the variables that OpenTelemetry knows, as far as they are set. */
export function createTelemetry(options: {
  said: Readonly<Record<string, string>>
  version: string
  db: Db
  /** Who made the format in which an agent asks for its model, as the conventions call it. */
  providerOf: (agent: ResolvedAgent) => string | undefined
  clock: Clock
  log: Log
}): Telemetry | undefined {
  const { db, log, providerOf } = options
  const settings = otlpSettings(options.said, log)
  if (!settings) return undefined
  const exporter = createExporter({ ...options, settings })
  const turns = new Map<string, TurnSpan>()
  let telling: Promise<void> = Promise.resolve()

  const tell = async (event: Event): Promise<void> => {
    const atMs = Date.parse(event.at)
    if (event.type === 'run.ended' && event.run !== undefined) {
      const told = await readRunTold(db, event.run)
      const seen = turns.get(event.run)
      turns.delete(event.run)
      for (const span of told && traceOf(told).isSampled ? runSpans(told, atMs, providerOf(told.config), seen) : [])
        exporter.send(span)
    } else {
      const told = await readTaskTold(db, event.task)
      if (told && isEnded(told.state) && traceOf(told).isSampled) exporter.send(taskSpan(told, atMs))
    }
  }
  return {
    turn(turn) {
      turns.set(turn.run, turn)
      for (const oldest of turns.size > mostTurns ? turns.keys() : []) {
        turns.delete(oldest)
        break
      }
    },
    call(run, call) {
      if (traceOf(run).isSampled) exporter.send(callSpan(run, call))
    },
    stored(events) {
      for (const event of events)
        if (ends.has(event.type))
          telling = telling
            .then(() => tell(event))
            .catch((error: unknown) => log.warn('spans were not made', { task: event.task, error: messageOf(error) }))
    },
    async stop() {
      await telling
      await exporter.stop()
    },
  }
}

const ends: ReadonlySet<string> = new Set([
  'run.ended',
  'task.completed',
  'task.failed',
  'task.timed_out',
  'task.cancelled',
  'task.over_budget',
])
