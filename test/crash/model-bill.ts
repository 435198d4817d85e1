import { once } from 'node:events'
import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { json } from 'node:stream/consumers'
import type { Event } from '../../src/domain/event/event.ts'
import type { TaskView } from '../../src/domain/view/view.ts'
import type { CrashHome } from './home.ts'

/** What one answer costs at the listed price, and the most that one could; a quarter more may be held open. */
const callUsd = (20 * 1 + 100 * 5) / 1e6
const mostUsd = 0.005 * 1.25

/** A provider that lives on when daemons die, and writes down for whom it has worked: that is what will be asked for. */
const bill = new Map<string, number>()
const server = createServer(async (request, response) => {
  const body = (await json(request)) as { metadata: { user_id: string } }
  const run = body.metadata.user_id
  bill.set(run, (bill.get(run) ?? 0) + 1)
  const answer = {
    ...{ id: 'msg_1', type: 'message', role: 'assistant', model: target, stop_reason: 'end_turn', stop_sequence: null },
    content: [{ type: 'text', text: 'ok' }],
    usage: { input_tokens: 20, output_tokens: 100, cache_read_input_tokens: 0, cache_creation_input_tokens: 0 },
  }
  setTimeout(() => response.writeHead(200, { 'content-type': 'application/json' }).end(JSON.stringify(answer)), 50)
})
const target = 'claude-haiku-4-5'
server.listen(0, '127.0.0.1')
await once(server, 'listening')
server.unref()
const { port } = server.address() as AddressInfo

/** What an agent of the kind `model` has in its settings. */
export const billed = {
  model: 'crash-model',
  models: {
    providers: { billed: { kind: 'anthropic', baseUrl: `http://127.0.0.1:${port}`, wire: 'anthropic' } },
    models: { 'crash-model': { provider: 'billed', target } },
  },
}

/** C13: what the provider will ask for is in the ledger; and no more, but for the one call that may have been under way when a run was lost. */
export async function wrongWithBill(home: CrashHome, task: TaskView, events: readonly Event[]): Promise<string[]> {
  const wrong: string[] = []
  const lines = await home.query<{ run: string; usd: string; unknown: string }>(
    `select run_id as run, sum(counted_usd) as usd, count(*) filter (where known = 'unknown') as unknown from pawl.ledger where task_id = '${task.id}' group by 1`,
  )
  for (const { id, outcome } of task.runs) {
    const calls = bill.get(id) ?? 0
    const told = events.filter((event) => event.type === 'model.called' && event.run === id).length
    const line = lines.find(({ run }) => run === id)
    const beyond = Number(line?.usd ?? 0) - calls * callUsd
    const said = `run ${id} (${outcome}) has ${line?.usd ?? 0} dollars in the ledger for ${calls} calls of ${callUsd}, of which ${told} were told`
    if (beyond < -1e-9) wrong.push(`C13: ${said}: less than it spent`)
    if (beyond > mostUsd + 1e-9) wrong.push(`C13: ${said}: more than one call under way can explain`)
    const mayBeUnsure = outcome === 'lost' || outcome === 'interrupted'
    if (beyond > 1e-9 && !mayBeUnsure) wrong.push(`C13: ${said}: more than it spent`)
    if (told > calls) wrong.push(`C13: ${said}: a call was told twice`)
    if (outcome === 'succeeded' && (calls !== 2 || told !== 2)) wrong.push(`C13: ${said}, instead of two`)
  }
  return wrong
}
