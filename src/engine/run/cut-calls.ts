import type { EventData } from '../../domain/event/event.ts'
import type { Db } from '../../store/database.ts'
import { latestEvents } from '../../store/sessions.ts'
import type { CutCall } from './prompt.ts'

const told = ['agent.tool_called', 'agent.tool_returned', 'run.started', 'session.reset'] as const
/** Of a run that did more than this only its end is looked at: what was cut short is there. */
const limit = 200

/** The calls of the session's last run to which nothing came back. */
export async function cutCalls(db: Db, session: string): Promise<CutCall[]> {
  const cut: CutCall[] = []
  const returned = new Set<string>()
  for (const { type, data } of await latestEvents(db, session, { types: told, before: Number.MAX_SAFE_INTEGER, limit })) {
    if (type === 'run.started' || type === 'session.reset') break
    const { callId } = data as EventData<'agent.tool_returned'>
    if (type === 'agent.tool_returned') returned.add(callId)
    else if (!returned.has(callId)) cut.push(data as EventData<'agent.tool_called'>)
  }
  return cut.reverse().map(({ tool, input }) => ({ tool, input }))
}
