import type { QuestionPolicy } from '../../domain/question/policy.ts'
import type { QuestionSettings } from '../../domain/question/settings.ts'

/** What a run needs to ask. */
export interface QuestionParts extends QuestionSettings {
  /** Tells whenever a question was answered; only a hint. */
  onAnswer(tell: () => void): () => void
  /** A question was asked that may have a deadline. */
  tellAsked(): void
}

/** A task's own words outrank the settings, each by itself; what is to happen belongs to the time after which it does. */
export function policyOf(task: QuestionPolicy | undefined, settings: QuestionSettings, nowMs: number) {
  const deadlineMs = task?.deadlineMs ?? settings.deadlineMs
  const mayAnswer = task?.mayAnswer ?? settings.mayAnswer
  if (deadlineMs === undefined) return { mayAnswer }
  const afterDeadline = task?.deadlineMs === undefined ? settings.afterDeadline : task.afterDeadline
  return { mayAnswer, deadline: new Date(nowMs + deadlineMs), afterDeadline }
}
