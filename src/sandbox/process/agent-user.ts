/** Whom root's agents become: nobody has this account, so no file is theirs but those they are given. */
export const agentUser = { uid: 61_295, gid: 61_295 } as const

/** Whom root's agents become, or any other user. */
export type AgentUser = { readonly uid: number; readonly gid: number }
