import { z } from 'zod'
import { roles } from '../domain/auth/role.ts'
import { defaultQuestions, type QuestionSettings } from '../domain/question/settings.ts'
import { Duration, formatDuration } from './duration.ts'

const text = z.string().min(1, { error: 'must not be empty' })
const after = 'must be deny, fail, { proceed: the answer }, or { escalate: { agent: name } } or { escalate: { webhook: name } }'

const WhoMayAnswer = text.refine((named) => !named.startsWith('role:') || roles.some((role) => named === `role:${role}`), {
  error: `must be the name of a user, or ${roles.map((role) => `role:${role}`).join(', ')}`,
})

/** What becomes of questions that nobody answers, as it is written in settings. */
export const QuestionsEntry = z.strictObject({
  deadline: Duration.optional().describe('How long a question waits for its answer; for ever if left out.'),
  afterDeadline: z
    .union(
      [
        z.enum(['deny', 'fail']),
        z.strictObject({ proceed: text }),
        z.strictObject({
          escalate: z
            .strictObject({
              agent: text.optional().describe('An agent that answers instead.'),
              webhook: text.optional().describe('A notification of these settings, by its name.'),
            })
            .refine(({ agent, webhook }) => agent !== undefined || webhook !== undefined, {
              error: 'must name an agent or a webhook',
            }),
        }),
      ],
      { error: after },
    )
    .optional()
    .describe('What happens then: deny, fail, go on with an answer, or ask somebody else; deny if left out.'),
  mayAnswer: z
    .array(WhoMayAnswer)
    .optional()
    .describe('Users, and roles as role:NAME, who may answer; all who may operate if left out.'),
  liveWindow: Duration.optional().describe('How long a run waits for an answer while somebody watches; 0 for not at all.'),
  grantsLast: Duration.optional().describe('How long a permission that counts once may wait to be used.'),
})
export type QuestionsEntry = z.output<typeof QuestionsEntry>

/** The same as the engine has it. */
export function questionsOf(entry: QuestionsEntry | null | undefined): QuestionSettings {
  const { deadline, afterDeadline, mayAnswer, liveWindow, grantsLast } = entry ?? {}
  return {
    ...defaultQuestions,
    ...(deadline === undefined ? {} : { deadlineMs: deadline }),
    ...(afterDeadline === undefined ? {} : { afterDeadline: afterOf(afterDeadline) }),
    ...(mayAnswer === undefined ? {} : { mayAnswer }),
    ...(liveWindow === undefined ? {} : { liveWindowMs: liveWindow }),
    ...(grantsLast === undefined ? {} : { grantsLastMs: grantsLast }),
  }
}

function afterOf(written: NonNullable<QuestionsEntry['afterDeadline']>): QuestionSettings['afterDeadline'] {
  if (typeof written === 'string') return { kind: written }
  return 'proceed' in written ? { kind: 'proceed', answer: written.proceed } : { kind: 'escalate', ...written.escalate }
}

/** What `config show` prints of it. */
export const shownQuestions = ({ deadlineMs, liveWindowMs, grantsLastMs, ...settings }: QuestionSettings) => ({
  deadline: deadlineMs === undefined ? 'none' : formatDuration(deadlineMs),
  ...settings,
  liveWindow: formatDuration(liveWindowMs),
  grantsLast: formatDuration(grantsLastMs),
})
