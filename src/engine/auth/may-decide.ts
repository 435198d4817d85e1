import { denied } from '../../domain/error.ts'
import { decide } from '../../domain/profile/decide.ts'
import type { Profile } from '../../domain/profile/profile.ts'
import type { QuestionPolicy } from '../../domain/question/policy.ts'
import type { QuestionSettings } from '../../domain/question/settings.ts'
import type { Checks } from '../../domain/task/spec.ts'
import type { Caller } from './audit.ts'
import { isAmong } from './may-answer.ts'
import { mayAll, nameOf } from './may-ask.ts'

type Named = Pick<QuestionSettings, 'mayAnswer'> | undefined

/** Where the settings say who answers questions, a task of anybody else names no others for it, and no answer beforehand: not even a permission would be asked for then. */
export function assertMayDecide(caller: Caller, policy: QuestionPolicy | undefined, settings: Named): void {
  const named = settings?.mayAnswer
  if (!policy || !named || mayAll(caller.standing)) return
  const { mayAnswer = [], afterDeadline } = policy
  const others = mayAnswer.filter((one) => !named.includes(one))
  if (others.length > 0)
    throw denied(
      `A token of ${nameOf(caller.standing)} may not have questions answered by ${others.join(', ')}: the settings name ${named.join(', ')}. Choose among those, or leave questions.mayAnswer out.`,
    )
  const isAnswered = afterDeadline.kind === 'proceed' || (afterDeadline.kind === 'escalate' && afterDeadline.agent !== undefined)
  if (isAnswered && !isAmong(named, caller))
    throw denied(
      `Questions are answered by ${named.join(', ')} only, so a token of ${nameOf(caller.standing)} may not say what the answer is if nobody gives one; choose "deny" or "fail" for questions.afterDeadline.`,
    )
}

/**
 * Checks are commands of the shell that run where the agent works. Whoever may not change the settings has none run that the agent's profile refuses, nor one about
 * which a person must be asked if they may not answer it.
 */
export function assertMayCheck(caller: Caller, checks: Checks | null | undefined, profile: Profile, settings: Named): void {
  if (!checks || mayAll(caller.standing)) return
  const mayAllow = !settings?.mayAnswer || isAmong(settings.mayAnswer, caller)
  const refused = refusedCheck(checks, profile, { mayAllow })
  if (refused)
    throw denied(
      `A token of ${nameOf(caller.standing)} may not have the check "${refused.run.slice(0, 200)}" run: ${refused.why} Leave it out, or name an agent whose profile allows it.`,
    )
}

/** The first of the checks that the profile would not let an agent run; with `mayAllow`, also one about which somebody would be asked is fine. */
export function refusedCheck(
  { commands }: Checks,
  profile: Profile,
  { mayAllow, workspace }: { mayAllow: boolean; workspace?: string | undefined },
): { run: string; why: string } | undefined {
  const tool = profile.tools.native ? 'Bash' : 'mcp__pawl__Bash'
  for (const { run } of commands) {
    const { verdict, why } = decide(profile, { tool, input: { command: run } }, { workspace })
    if (verdict === 'deny' || (verdict === 'ask' && !mayAllow)) return { run, why }
  }
  return undefined
}
