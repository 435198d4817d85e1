import type { CallFacts } from '../gateway/money/purse.ts'
import { createRegistry, type MetricDefinition, type Sample } from './registry.ts'
import type { RunSpan, SpannedRun } from './telemetry.ts'

/** Every number there is at `/metrics`. Those that only grow count what this process has done since it started; the rest is how things are now. */
export const metricDefinitions = {
  pawl_build_info: { type: 'gauge', labels: ['version', 'node', 'database'], help: 'Always 1; its labels say what runs.' },
  pawl_tasks: { type: 'gauge', labels: ['state'], help: 'Tasks in each state.' },
  pawl_queue_oldest_seconds: { type: 'gauge', labels: [], help: 'How long the task that has been queued longest has waited.' },
  pawl_tasks_parked: { type: 'gauge', labels: ['kind'], help: 'Parked tasks by what they wait for.' },
  pawl_questions_pending: { type: 'gauge', labels: [], help: 'Questions that wait for an answer.' },
  pawl_accounts_limited: { type: 'gauge', labels: ['kind'], help: 'Accounts of model providers that are at a limit.' },
  pawl_runs_open: { type: 'gauge', labels: ['agent'], help: 'Runs that go on, of all processes.' },
  pawl_workers: { type: 'gauge', labels: [], help: 'Processes that run agents.' },
  pawl_runs_ended_total: { type: 'counter', labels: ['agent', 'outcome'], help: 'Runs that ended in this process.' },
  pawl_run_duration_seconds: { type: 'histogram', labels: ['agent'], help: 'How long runs took.' },
  pawl_tokens_total: {
    type: 'counter',
    labels: ['agent', 'model', 'kind'],
    help: 'Tokens of runs that ended; kind is input or output.',
  },
  pawl_cost_usd_total: { type: 'counter', labels: ['agent', 'model'], help: 'What runs that ended have cost in US dollars.' },
  pawl_model_calls_total: {
    type: 'counter',
    labels: ['provider', 'model', 'result'],
    help: 'Calls by the gateway; the result is ok, no_answer or the kind of refusal.',
  },
  pawl_model_call_duration_seconds: { type: 'histogram', labels: ['provider'], help: 'How long calls by the gateway took.' },
  pawl_events_stored_total: { type: 'counter', labels: ['type'], help: 'Events that this process has stored.' },
  pawl_event_followers: { type: 'gauge', labels: [], help: 'Open streams of events.' },
  pawl_outbox: { type: 'gauge', labels: ['state'], help: 'Notifications that wait, and that were given up.' },
  pawl_schedules: { type: 'gauge', labels: ['state'], help: 'Schedules that are active, paused, and those that fail.' },
  pawl_programs_waiting: { type: 'gauge', labels: [], help: 'Programs of agents that wait for the next turn of their session.' },
  pawl_walls_enforced: { type: 'gauge', labels: ['walls'], help: '1 if the walls around runs hold on this machine.' },
  pawl_halted: { type: 'gauge', labels: [], help: '1 while all agents are stopped (pawl stop --all-agents).' },
  pawl_backup_age_seconds: {
    type: 'gauge',
    labels: [],
    help: 'How old the newest file in the folder of backups is; missing if there is none.',
  },
  pawl_database_connections: {
    type: 'gauge',
    labels: ['state'],
    help: 'Connections of this process that are idle or in use, and who waits for one.',
  },
  process_cpu_seconds_total: { type: 'counter', labels: [], help: 'Processor time of this process, without its agents.' },
  process_resident_memory_bytes: { type: 'gauge', labels: [], help: 'Memory of this process, without its agents.' },
  process_start_time_seconds: { type: 'gauge', labels: [], help: 'When this process started.' },
  nodejs_heap_used_bytes: { type: 'gauge', labels: [], help: 'Memory in use by JavaScript.' },
  nodejs_eventloop_delay_seconds: {
    type: 'gauge',
    labels: ['stat'],
    help: 'How late the event loop was since it was last asked: p50, p99 and max.',
  },
} as const satisfies Record<string, MetricDefinition>
export type MetricName = keyof typeof metricDefinitions

export interface Metrics {
  run(run: RunSpan): void
  call(run: SpannedRun, call: CallFacts): void
  stored(events: readonly { readonly type: string }[]): void
  render(gauges: readonly Sample<MetricName>[]): string
}

export function createMetrics(): Metrics {
  const registry = createRegistry<MetricName>(metricDefinitions)
  return {
    run({ agent, outcome, model = 'unknown', startedAtMs, endedAtMs, inputTokens, outputTokens, costUsd }) {
      registry.add('pawl_runs_ended_total', { agent, outcome })
      registry.observe('pawl_run_duration_seconds', { agent }, Math.max(0, endedAtMs - startedAtMs) / 1_000)
      for (const [kind, tokens] of Object.entries({ input: inputTokens, output: outputTokens }))
        if (tokens !== undefined) registry.add('pawl_tokens_total', { agent, model, kind }, tokens)
      if (costUsd !== undefined) registry.add('pawl_cost_usd_total', { agent, model }, costUsd)
    },
    call(_, { route, refusal, status, durationMs }) {
      const provider = route.provider.name
      const result = refusal?.kind ?? (status === undefined ? 'no_answer' : 'ok')
      registry.add('pawl_model_calls_total', { provider, model: route.target, result })
      registry.observe('pawl_model_call_duration_seconds', { provider }, durationMs / 1_000)
    },
    stored(events) {
      for (const { type } of events) registry.add('pawl_events_stored_total', { type })
    },
    render: registry.render,
  }
}
