import type { Log } from '../../base/log.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { ExactCall, QuestionAsked } from '../../domain/question/question.ts'
import { type AnsweredQuestion, grantedBy, hostCall, hostQuestion } from './host-question.ts'
import { readRules } from './host-rule.ts'
import type { NetworkAccess, NetworkEvent } from './network.ts'

export interface AccessParts {
  readonly profile: Pick<Profile, 'name' | 'network'>
  /** The agent's model endpoint, if it is configured with one. */
  readonly baseUrl: string | undefined
  /** Where its program talks to otherwise. */
  readonly hosts: readonly string[] | undefined
  /** The task's questions, with their answers. */
  readonly questions: readonly AnsweredQuestion[]
  ask(question: QuestionAsked, call: ExactCall): Promise<unknown>
  record(event: NetworkEvent): void
  readonly log?: Log | undefined
}

/** What a run may reach: what its profile says, its model, and what a person allowed for its task. Throws if a rule is none. */
export function networkAccess({ profile, baseUrl, hosts = [], questions, ask, record, log }: AccessParts): NetworkAccess {
  const { network } = profile
  const allow = [...network.allow, ...(baseUrl === undefined ? hosts : [])]
  return {
    profile: profile.name,
    rules: readRules({ ...network, allow, granted: grantedBy(questions) }),
    model: baseUrl,
    ask: (target) => ask(hostQuestion(target), hostCall(target)),
    record,
    log,
  }
}
