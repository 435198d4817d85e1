/**
 * How a run can end, and what each kind of failure means for its task. This is the only place that says whether to try again.
 */
export const outcomes = [
  'succeeded',
  'partial',
  'empty',
  'failed',
  'timed_out',
  'cancelled',
  'blocked',
  'denied',
  'tripped',
  'over_budget',
  'interrupted',
  'lost',
] as const
export type Outcome = (typeof outcomes)[number]

/** Ends with which a task is completed although it came to less than it was asked for. */
export const shortfalls = ['partial', 'empty'] as const satisfies readonly Outcome[]
export type Shortfall = (typeof shortfalls)[number]

/** How much of a conversation the next run may trust after what happened to this one: its files, only the archive, or only the journal. */
export type SessionCare = 'keep' | 'restore' | 'rebuild'

export interface CategoryRule {
  /** never: the task fails; once: one more run; crash: up to the retry limit, first at once and then waiting longer each time (a stall as well); backoff: up to the retry limit, waiting longer each time; park: wait for a named time; checks: as often as the task's checks allow. */
  readonly retry: 'never' | 'once' | 'crash' | 'backoff' | 'park' | 'checks'
  readonly session: SessionCare
  /** One plain sentence for the person who reads it. */
  readonly says: string
}

export const categories = {
  rate_limited: { retry: 'backoff', session: 'keep', says: 'The model provider asked to slow down.' },
  overloaded: { retry: 'backoff', session: 'keep', says: 'The model provider is overloaded.' },
  usage_limit: { retry: 'park', session: 'keep', says: "The account's usage limit is reached; it resets at a known time." },
  network: { retry: 'backoff', session: 'keep', says: 'The network or the provider failed.' },
  session_missing: { retry: 'once', session: 'restore', says: "The agent's conversation file is gone." },
  crashed: { retry: 'crash', session: 'keep', says: 'The agent program ended without a result.' },
  exit_code: { retry: 'never', session: 'keep', says: 'The agent program ended with an error code.' },
  checks_failed: { retry: 'checks', session: 'keep', says: 'The work did not pass its checks.' },
  reported_failure: { retry: 'never', session: 'keep', says: 'The agent says itself that it could not do the work.' },
  output_limit: { retry: 'never', session: 'keep', says: 'The agent printed more than is allowed.' },
  oom: { retry: 'never', session: 'keep', says: 'The agent used more memory than is allowed.' },
  disk_limit: { retry: 'never', session: 'keep', says: 'The agent wrote more to the disk than is allowed.' },
  dependency_failed: { retry: 'never', session: 'keep', says: 'A task that this one depends on did not end well.' },
  unanswered: { retry: 'never', session: 'keep', says: 'Nobody answered a question of the agent in time.' },
  no_progress: { retry: 'never', session: 'keep', says: 'Several tries ended the same way.' },
  auth_failed: { retry: 'never', session: 'keep', says: 'The agent is not logged in, or its key was refused.' },
  bad_config: { retry: 'never', session: 'keep', says: 'The agent is configured in a way its program refuses.' },
  binary_missing: { retry: 'never', session: 'keep', says: "The agent's program is not installed." },
  permission_denied: { retry: 'never', session: 'keep', says: 'The profile does not allow what the agent needed.' },
  sandbox_error: { retry: 'never', session: 'keep', says: 'The sandbox around the agent could not be built.' },
  workspace_error: { retry: 'never', session: 'keep', says: 'The workspace cannot be used.' },
  guardrail_tripped: { retry: 'never', session: 'keep', says: 'The agent was going round in circles and was stopped.' },
  max_turns: { retry: 'never', session: 'keep', says: 'The agent used all its turns.' },
  context_overflow: { retry: 'never', session: 'keep', says: 'The conversation no longer fits the model.' },
  budget_exceeded: { retry: 'never', session: 'keep', says: 'The budget is used up.' },
  total_timeout: { retry: 'never', session: 'keep', says: 'The run took longer than allowed.' },
  idle_timeout: { retry: 'crash', session: 'keep', says: 'The agent did nothing for longer than allowed.' },
  empty_answer: { retry: 'once', session: 'keep', says: 'The agent ended well but said nothing.' },
  invalid_output: { retry: 'once', session: 'keep', says: 'The answer does not have the form that was asked for.' },
  protocol_error: { retry: 'never', session: 'keep', says: "The agent's output could not be understood." },
  internal: { retry: 'never', session: 'keep', says: 'Pawl made a mistake; the log has the details.' },
} as const satisfies Record<string, CategoryRule>
export type Category = keyof typeof categories
export const categoryNames = Object.keys(categories) as [Category, ...Category[]]
