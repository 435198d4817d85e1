/** What a person can choose from; anything else they say is a no, with a reason. */
export const choices = ['Allow once', 'Allow for this task', 'Deny'] as const

export interface PermissionAnswer {
  readonly allow: boolean
  /** It counts for one call only. Who says no means the whole task. */
  readonly isOnce: boolean
  /** The person's own words, if they chose none of ours. */
  readonly said?: string | undefined
}

/** What an answer to a request for permission means. */
export function readPermission(answer: string): PermissionAnswer {
  const said = answer.trim().toLowerCase().replace(/[.!]$/, '')
  if (said === 'allow for this task' || said === 'always') return { allow: true, isOnce: false }
  if (said === 'allow once' || said === 'allow' || said === 'yes' || said === 'y') return { allow: true, isOnce: true }
  return { allow: false, isOnce: false, ...(said === 'deny' || said === 'no' || said === 'n' ? {} : { said: answer.trim() }) }
}

/** What the agent is told of it when it goes on. */
export function decisionTold(answer: string): string {
  const { allow, isOnce, said } = readPermission(answer)
  if (!allow)
    return `The call that you wanted to make is denied${said === undefined ? '.' : `: ${said}`} Do not make it again: go another way, or stop and say what you need.`
  const often = isOnce ? 'once' : 'for the rest of this task'
  return `The call that you wanted to make is allowed, ${often}. Make it again now, exactly as it was: any change to it is asked about anew. Then go on.`
}
