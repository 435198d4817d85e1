import { statSync } from 'node:fs'
import { dirname } from 'node:path'
import { PawlError } from '../../domain/error.ts'
import type { Walls } from '../port.ts'

/** As whom the agent runs. */
export interface Identity {
  readonly uid: number
  readonly gid: number
  /** Further groups, whose rights reach through the walls. Nobody who was dropped to has any. */
  readonly groups?: readonly number[]
}

export function agentIdentity(walls: Pick<Walls, 'user'>): Identity {
  const own = { uid: process.getuid?.() ?? -1, gid: process.getgid?.() ?? -1, groups: process.getgroups?.() ?? [] }
  const user = walls.user ?? own
  if (user.uid === 0)
    throw new PawlError('denied', 'An agent is never run as root behind walls; name an unprivileged user to become.')
  if (own.uid !== 0 && user.uid !== own.uid) {
    throw new PawlError('denied', `Only root can run agents as user ${user.uid}; this process is user ${own.uid}.`)
  }
  return own.uid === 0 ? user : own
}

/** May the user execute this file, or enter this directory? Access lists beyond the mode are not looked at. */
export function mayExecute(path: string, user: Identity): boolean {
  const stats = statSync(path)
  const isInGroup = stats.gid === user.gid || user.groups?.includes(stats.gid)
  const shift = stats.uid === user.uid ? 6 : isInGroup ? 3 : 0
  return ((stats.mode >> shift) & 1) !== 0
}

/** The first directory on the way to `path` that the user may not enter. */
export function closedAncestor(path: string, user: Identity): string | undefined {
  const onTheWay: string[] = []
  for (let dir = dirname(path); dir !== '/'; dir = dirname(dir)) onTheWay.unshift(dir)
  return onTheWay.find((dir) => statSync(dir, { throwIfNoEntry: false }) !== undefined && !mayExecute(dir, user))
}
