import { sql } from 'kysely'
import type pg from 'pg'
import type { Database } from '../../src/store/database.ts'
import type { Screen } from './screens.ts'

interface Told {
  readonly 'Query Text': string
  readonly Plan: { readonly 'Shared Hit Blocks': number; readonly 'Shared Read Blocks': number }
}

/** Has the server say how it carries out each statement of the program itself, with the plans that it keeps for it. */
const tellPlans = `load 'auto_explain'; set auto_explain.log_min_duration = 0; set auto_explain.log_analyze = on; set auto_explain.log_buffers = on;
  set auto_explain.log_timing = off; set auto_explain.log_format = json; set auto_explain.log_level = notice`

/** Measures how much screens have a database do: in pages of 8 KiB that the server looks at, in memory or not. That is the same each time, however busy the machine is. */
export async function createMeter(database: Database): Promise<(screen: Screen, planned: string) => Promise<number>> {
  const told: Told[] = []
  const listen = (client: pg.PoolClient) =>
    client.on('notice', ({ message }) => {
      if (message?.includes('plan:')) told.push(JSON.parse(message.slice(message.indexOf('{'))) as Told)
    })
  await database.setSessionStatements([tellPlans])
  database.pool.on('connect', listen)
  // The one connection that there is was made before.
  const first = await database.pool.connect()
  await first.query(tellPlans)
  listen(first)
  first.release()

  const undone = new Error('undone')
  return async ({ ask }, planned) => {
    await database.db
      .transaction()
      .execute(async (tx) => {
        await sql.raw(planned).execute(tx)
        // Once to read what the server has to know of tables and indexes, which is no work of the screen.
        await ask(tx)
        told.length = 0
        await ask(tx)
        throw undone
      })
      .catch((error: unknown) => {
        if (error !== undone) throw error
      })
    if (told.length === 0) throw new Error('The server has told nothing of what it did.')
    return told.reduce((sum, { Plan }) => sum + Plan['Shared Hit Blocks'] + Plan['Shared Read Blocks'], 0)
  }
}
