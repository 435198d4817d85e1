// Without the schema library on purpose: the CLI imports this file, and its start-up pays for every import.

/** What a user may do at most, from the least to the most. */
export const roles = ['viewer', 'operator', 'admin'] as const
export type Role = (typeof roles)[number]

/** What somebody stands for who has come in: a user's role, a program that only hands in tasks, or the agent of one run. */
export const standings = [...roles, 'hook', 'agent'] as const
export type Standing = (typeof standings)[number]

/** Who came in. Everything that is decided about a request is decided by this. */
export interface Principal {
  readonly user: string
  readonly standing: Standing
  /** The id of the token, or `home` for the token of Pawl's home. */
  readonly token: string
  /** The one task that an agent may read. */
  readonly task?: string | undefined
}

const users = roles
const workers = ['operator', 'admin'] as const

/** The one table of who may do what. A route names the right it needs. */
export const rights = {
  /** Look at tasks, sessions, questions, agents, health. */
  read: users,
  /** Look at one task; an agent may look at its own. */
  read_task: [...users, 'agent'],
  /** Hand in a task. */
  create: [...workers, 'hook'],
  /** Cancel, retry, answer, adopt. */
  work: workers,
  /** Users, tokens, secrets, the audit, stopping everything. */
  administer: ['admin'],
  /** Speak a protocol whose operations share one address; each of them asks for the right that it needs. */
  speak: [...users, 'hook'],
  /** What concerns only whoever asks: who am I, sign me in elsewhere. */
  self: users,
  /** Leave. */
  leave: [...users, 'hook', 'agent'],
} as const satisfies Record<string, readonly Standing[]>

/** `open` needs nobody to have come in at all. */
export type Right = keyof typeof rights | 'open'

export function mayUse(right: Right, standing: Standing): boolean {
  return right === 'open' || (rights[right] as readonly Standing[]).includes(standing)
}

/** A token never gives more than its user has. */
export const lesserRole = (one: Role, other: Role): Role => (roles.indexOf(one) < roles.indexOf(other) ? one : other)

/** The user that the token of Pawl's home stands for. Always there, always admin. */
export const localUser = 'local'
