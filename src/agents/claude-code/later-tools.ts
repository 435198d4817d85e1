import { invalid } from '../../domain/error.ts'

/**
 * Tools by which the agent makes the program go to work again by itself, here or elsewhere, when the turn is long over: what it did then would belong to no run.
 * As of 2.1.325; names that a version does not know are overlooked by it.
 */
export const laterTools = [
  'CronCreate',
  'CronDelete',
  'CronList',
  'Monitor',
  'RemoteTrigger',
  'ScheduleWakeup',
  'SubscribePR',
  'Workflow',
] as const

/** The same for what needs no tool: jobs that stand in a file of the workspace, and workflows that a prompt names. */
export const laterVariables = { CLAUDE_CODE_DISABLE_CRON: '1', CLAUDE_CODE_DISABLE_WORKFLOWS: '1' } as const

/** A rule may name several tools, each with a pattern in brackets. */
export function checkAllowed(rules: readonly string[]): void {
  const named = rules.flatMap((rule) => rule.replace(/\([^)]*\)/g, '').split(/[\s,]+/))
  const later = laterTools.find((tool) => named.includes(tool))
  if (later === undefined) return
  throw invalid(
    `The tool ${later} cannot be allowed: it lets Claude Code work when no run is under way. Remove it from allowedTools.`,
  )
}
