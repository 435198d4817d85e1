import { notFound } from '../../domain/error.ts'
import type { SessionSummary } from '../../domain/view/view.ts'
import type { Runtime } from '../../operations/runtime.ts'
import { formatAge } from '../text/format.ts'
import { oneLine } from '../text/plain.ts'
import { findNamed, isPartOfId, type Noun, unnameable } from './find.ts'

export const sessionArgument = 'its id, the end or beginning of it, or "last"'

export const sessionNoun: Noun<SessionSummary> = {
  called: 'session',
  letter: 's',
  listedBy: 'pawl sessions ls',
  or: '"last"',
  says: ({ agent, updatedAt }) => `${oneLine(agent, 20)}  ${formatAge(Date.now() - Date.parse(updatedAt))}`,
}

/** The id of the session that a person named. */
export async function findSession(runtime: Pick<Runtime, 'listSessions'>, named: string): Promise<string> {
  if (named !== 'last') return findNamed(named, sessionNoun, (page) => runtime.listSessions(page))
  const newest = (await runtime.listSessions({ limit: 1 })).items[0]
  if (!newest) throw notFound('There is no session yet; every task has one, start one with: pawl run "…"')
  return newest.id
}

/** Where nothing is asked of a runtime yet: what cannot be a session is refused before anything is made. */
export function sessionName(named: string): string {
  if (named !== 'last' && !isPartOfId(named)) throw unnameable(named, sessionNoun)
  return named
}
