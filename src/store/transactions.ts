import { sql } from 'kysely'
import type { QueryResult } from 'pg'

type Send = (text: string, values: readonly unknown[]) => Promise<QueryResult>

/** At the very end of a statement: whatever it answers, its transaction is to be committed, and `commit` may go out along with it. */
export const commitMark = '/* and commit */'
export const andCommit = sql.raw(commitMark)

/** At the very end of a statement without parameters that is sent again and again: the server keeps its plan all the same. */
export const keepMark = '/* keep */'

/**
 * Statements as the server is sent them: `begin` goes out together with the first statement of its transaction, and `commit` together with a last one that says
 * so. Each of them would otherwise be waited for on its own, which costs more than what the server does.
 */
export function createTransactions(send: Send): Send {
  let isDue = false
  let committing: Promise<QueryResult> | undefined

  return async (text, values) => {
    if (text === 'begin') {
      isDue = true
      committing = undefined
      return nothing('BEGIN')
    }
    if (text === 'commit' || text === 'rollback') {
      const sent = committing
      committing = undefined
      if (isDue) {
        isDue = false
        return nothing(text === 'commit' ? 'COMMIT' : 'ROLLBACK')
      }
      if (text === 'commit') return committed(await (sent ?? send(text, values)))
      // After a last statement that failed: the server has rolled back already, and says no more than that there is nothing to do.
      return send(text, values)
    }
    const beginning = isDue ? send('begin', []) : undefined
    isDue = false
    const answer = send(text, values)
    if (text.endsWith(commitMark)) {
      committing = send('commit', [])
      // Heard when the commit is asked for, which it is not after a statement that failed.
      committing.catch(() => undefined)
    }
    if (!beginning) return answer
    // A statement whose transaction did not begin must not look as if it had one.
    const [, result] = await Promise.all([beginning, answer])
    return result
  }
}

/** The server answers the commit of a transaction in which a statement has failed with a rollback, and calls that no error. */
function committed(result: QueryResult): QueryResult {
  if (result.command !== 'COMMIT') throw new Error('The transaction was not committed: one of its statements had failed.')
  return result
}

const nothing = (command: string) => ({ command, rowCount: null, oid: 0, fields: [], rows: [] }) as QueryResult
