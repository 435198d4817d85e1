import type { PromptResponse, StopReason } from '@agentclientprotocol/sdk'
import { type Category, categories } from '../../domain/run/outcome.ts'
import { shortfallOf } from '../../domain/task/task.ts'
import type { TaskView } from '../../domain/view/view.ts'
import { failedTask } from './errors.ts'

/** Ends for which the protocol has a word. */
const stops: Partial<Record<Category, StopReason>> = {
  max_turns: 'max_turn_requests',
  context_overflow: 'max_tokens',
  // The agent said itself that it will not, and why, in its own words.
  reported_failure: 'refusal',
}

/** What a prompt is answered with when its task has come to its end. What went wrong is an error, never words of the agent. */
export function endingOf(task: TaskView): PromptResponse {
  const category = task.reason?.kind ?? ''
  const stopReason: StopReason | undefined =
    task.state === 'completed' || task.state === 'review'
      ? 'end_turn'
      : task.state === 'cancelled'
        ? 'cancelled'
        : stops[category as Category]
  if (stopReason === undefined) throw failedTask(task.id, category || task.state, sentenceOf(task, category))
  const shortfall = shortfallOf(task)
  return {
    stopReason,
    _meta: {
      pawl: {
        ...{ task: task.id, state: task.state, costUsd: task.result?.costUsd ?? null },
        ...(shortfall === undefined ? {} : { shortfall }),
      },
    },
  }
}

/** It has done what was asked for, and says what came of it. */
export const hasAnswer = (task: TaskView): task is TaskView & { result: NonNullable<TaskView['result']> } =>
  (task.state === 'completed' || task.state === 'review') && task.result !== null

function sentenceOf(task: TaskView, category: string): string {
  const said = task.reason?.detail ?? (Object.hasOwn(categories, category) ? categories[category as Category].says : undefined)
  return `${said ?? `The task is ${task.state}.`} (task ${task.id}: pawl show ${task.id})`
}

/** It waits longer than somebody in front of an editor would; it goes on without them. */
export function parkedError(task: TaskView) {
  const until = task.resumeAt === null ? '' : ` until ${task.resumeAt}`
  const why = task.reason?.detail ? ` (${task.reason.detail})` : ''
  return failedTask(
    task.id,
    task.reason?.kind ?? 'parked',
    `The task is parked${until}${why} and goes on by itself then; load this session later to see how it went, or let it go on now: pawl task resume ${task.id}`,
  )
}
