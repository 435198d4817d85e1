import type { CompleteRequestParams, CompleteResult } from '@modelcontextprotocol/server'
import { mayUse } from '../../domain/auth/role.ts'
import type { Call } from './call.ts'

const most = 100

/** What may follow: the names of agents and the ids of tasks, newest first. */
export async function complete(call: Call, { ref, argument }: CompleteRequestParams): Promise<CompleteResult> {
  const known = mayUse('read', call.who.standing) ? await wordsFor(call, argument.name, ref.type === 'ref/resource') : []
  const values = known.filter((word) => word.startsWith(argument.value))
  return { completion: { values: values.slice(0, most), total: values.length, hasMore: values.length > most } }
}

async function wordsFor({ runtime }: Call, name: string, isResource: boolean): Promise<string[]> {
  if (name === 'task') return (await runtime.listTasks({ limit: 200 })).items.map(({ id }) => id)
  if (name === 'agent' && !isResource) return (await runtime.listAgents()).map((agent) => agent.name)
  return []
}
