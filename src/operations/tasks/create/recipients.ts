import { localUser, roles } from '../../../domain/auth/role.ts'
import { didYouMean } from '../../../domain/base/nearest.ts'
import { invalid } from '../../../domain/error.ts'
import type { NewTask } from '../../../domain/view/view.ts'
import { translateDbErrors } from '../../../engine/base/translate-db-errors.ts'
import { findUser } from '../../../store/users.ts'
import { agentNamed } from './agent.ts'
import type { TaskCreatorParts } from './parts.ts'

/** Refuses a task that names somebody who is not there for later: hours after it was made nobody would see why nothing happens. */
export async function assertKnown(
  { db, agents, notifications = [] }: Pick<TaskCreatorParts, 'db' | 'agents' | 'notifications'>,
  { questions, subtasks }: Pick<NewTask, 'questions' | 'subtasks'>,
): Promise<void> {
  for (const name of subtasks?.agents ?? []) agentNamed(agents, name)
  const after = questions?.afterDeadline
  if (after?.kind === 'escalate') {
    const { agent, webhook } = after
    if (agent === undefined && webhook === undefined)
      throw invalid(
        'An unanswered question is to be escalated, and nobody is named; name an agent, or a notification as webhook.',
      )
    if (agent !== undefined) agentNamed(agents, agent)
    const names = notifications.map(({ name }) => name)
    if (webhook !== undefined && !names.includes(webhook))
      throw invalid(
        `There is no notification "${webhook}" in the settings to escalate a question to${didYouMean(webhook, names)} ${names.length > 0 ? `There is: ${names.join(', ')}.` : 'Put it under "notifications" first; see docs/notifications.md.'}`,
      )
  }
  for (const named of questions?.mayAnswer ?? []) {
    if (named.startsWith('role:')) assertRole(named.slice('role:'.length))
    else if (named !== localUser && !(await translateDbErrors(() => findUser(db, named))))
      throw invalid(`There is no user "${named}" who could answer; "pawl user ls" lists those there are.`)
  }
}

function assertRole(role: string): void {
  if (!(roles as readonly string[]).includes(role))
    throw invalid(`There is no role "${role}" whose users could answer${didYouMean(role, roles)} Roles are: ${roles.join(', ')}.`)
}
