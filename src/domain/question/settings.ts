import type { AfterDeadline } from './policy.ts'

/** What holds for questions where their task says nothing. */
export interface QuestionSettings {
  /** For ever if left out. */
  readonly deadlineMs?: number | undefined
  readonly afterDeadline: AfterDeadline
  /** Users, and roles as `role:NAME`; everybody who may operate if left out. */
  readonly mayAnswer?: readonly string[] | undefined
  /** How long a run waits for an answer while somebody watches; 0 for not at all. */
  readonly liveWindowMs: number
  /** How long a permission that counts once waits to be used. */
  readonly grantsLastMs: number
}

export const defaultQuestions: QuestionSettings = {
  afterDeadline: { kind: 'deny' },
  liveWindowMs: 20_000,
  grantsLastMs: 7 * 86_400_000,
}
