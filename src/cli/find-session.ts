import { invalid, notFound } from '../domain/error.ts'
import type { Runtime } from '../engine/runtime.ts'
import { formatAge } from './format.ts'
import { endingWith, searched } from './pages.ts'
import { oneLine } from './plain.ts'

/** The id of the session that a person named: a whole id, its last four or more characters, or `last`. */
export async function findSession(runtime: Pick<Runtime, 'listSessions'>, named: string): Promise<string> {
  if (/^s_[0-9a-z]{18}$/.test(named)) return named
  if (named === 'last') {
    const newest = (await runtime.listSessions({ limit: 1 })).items[0]
    if (!newest) throw notFound('There is no session yet; every task has one, start one with: pawl run "…"')
    return newest.id
  }
  if (!/^[0-9a-z_]{4,20}$/.test(named))
    throw invalid(`"${oneLine(named, 60)}" names no session; give its id, the last 4 or more characters of it, or "last".`)
  const found = await endingWith(named, (page) => runtime.listSessions(page))
  if (found.length > 1) {
    const candidates = found.map(
      (each) => `  ${each.id}  ${oneLine(each.agent, 20)}  ${formatAge(Date.now() - Date.parse(each.updatedAt))}`,
    )
    throw invalid(`"${named}" is the end of ${found.length} ids; which one?\n${candidates.join('\n')}`)
  }
  if (found.length === 0)
    throw notFound(`There is no session "${named}" among the newest ${searched}; "pawl session ls" lists them.`)
  return found[0]!.id
}

/** Where nothing is asked of a runtime yet, only a whole id will do. */
export function sessionOf(named: string): string {
  if (!/^s_[0-9a-z]{18}$/.test(named))
    throw invalid('--session needs a whole session id like s_0123456789abcdefgh; "pawl session ls" lists them.')
  return named
}
