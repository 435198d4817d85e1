import pg from 'pg'
import { silentLog } from '../../src/base/log.ts'
import type { NewEvent } from '../../src/domain/event/event.ts'
import { openEmbedded } from '../../src/store/embedded/server.ts'

/** An event as it is put in, of a run if one is named. */
export type Seed = NewEvent & { readonly run?: string | undefined }

/** Puts events behind those that a task of this home has, as if they had happened: faster than any agent, and of every kind. */
export async function seedEvents(home: string, task: string, events: readonly Seed[]): Promise<void> {
  const server = await openEmbedded({ home, log: silentLog })
  const db = new pg.Client(server.connection)
  try {
    await db.connect()
    const since = Date.now() - events.length * 100
    const rows = events.map(({ type, data, run }, n) => ({
      n: n + 1,
      type,
      data,
      run,
      at: new Date(since + n * 100).toISOString(),
    }))
    await db.query(
      `with head as (
         update pawl.journal_heads set seq = seq + $2 where task_id = $1 returning seq - $2 as seq
       )
       insert into pawl.events (task_id, seq, run_id, type, at, data)
       select $1, head.seq + i.n, i.run, i.type, i.at, i.data
       from head, jsonb_to_recordset($3::jsonb) as i(n int, run text, type text, at timestamptz, data jsonb)`,
      [task, events.length, JSON.stringify(rows)],
    )
  } finally {
    await db.end()
    await server.release()
  }
}

/** A long day of an agent: what it said, thought and did, some of it in vain. */
export function manyEvents(count: number, run: string): Seed[] {
  return Array.from({ length: count }, (_, n): Seed => {
    const callId = `call-${n - (n % 5)}`
    switch (n % 5) {
      case 0:
        return { run, type: 'agent.tool_called', data: { callId, tool: 'Bash', input: { command: `make step-${n}` } } }
      case 1:
        return {
          run,
          type: 'agent.tool_returned',
          data: { callId: `call-${n - 1}`, output: `built ${n}\n`.repeat(n % 40), isError: n % 50 === 1 },
        }
      case 2:
        return { run, type: 'agent.thinking', data: { text: `What follows from step ${n}?` } }
      case 3:
        return {
          run,
          type: 'agent.message',
          data: {
            text: `Step **${n}** is done.\n\n- it was \`${n}\`\n- it is next to ${n + 1}${'\n\nA longer word on it. '.repeat(n % 4)}`,
          },
        }
      default:
        return { run, type: 'agent.usage', data: { usage: { ...noUsage, inputTokens: 10, outputTokens: 5 } } }
    }
  })
}
const noUsage = { inputTokens: 0, outputTokens: 0, cacheReadTokens: 0, cacheWriteTokens: 0, turns: 0 }
