import { spawn } from 'node:child_process'
import { once } from 'node:events'
import { join } from 'node:path'
import { createInterface } from 'node:readline'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { startDaemon } from './daemon.ts'
import { type Benchmark, interleave, median, ms, timed } from './figure.ts'
import { inPlace, type Place } from './place.ts'

const rounds = 400

export const benchmark: Benchmark = {
  about: 'one tool call over HTTP by the official client of MCP: ours, which reads the task from the database, and a bare server',
  measure: ({ profileDir }) =>
    inPlace(async (place) => {
      const daemon = await startDaemon(place, { settings: { agents: { nothing: { command: ['/bin/true'] } } }, profileDir })
      const { id } = await daemon.createTask({ agent: 'nothing' })
      await daemon.follow(id, () => undefined)
      const ours = await connect(`${daemon.url}/mcp`, daemon.token)
      const peer = await connect(await startBareMcp(place), '')
      const call = (client: Client, name: string, args: Record<string, unknown>) => async () => {
        const result = await client.callTool({ name, arguments: args })
        if (result.isError) throw new Error(JSON.stringify(result.content))
      }
      const bare = call(peer, 'get_task', { task: id })
      const rows = []
      for (const [name, args] of [
        ['get_task', { task: id }],
        ['list_tasks', { limit: 20 }],
      ] as const) {
        const mine = call(ours, name, args)
        await interleave(
          50,
          () => timed(mine),
          () => timed(bare),
        )
        const sides = await interleave(
          rounds,
          () => timed(mine),
          () => timed(bare),
        )
        const over = median(sides.ours) - median(sides.peer)
        rows.push({
          name: `MCP ${name}, p50`,
          ours: ms(median(sides.ours)),
          peer: `${ms(median(sides.peer))} bare server`,
          ratio: median(sides.ours) / median(sides.peer),
          target: `≤ 5 ms over (is ${ms(over)})`,
          isMet: over <= 5,
        })
      }
      await ours.close()
      await peer.close()
      return rows
    }),
}

async function connect(url: string, token: string): Promise<Client> {
  const client = new Client({ name: 'bench', version: '1.0.0' }, { versionNegotiation: { mode: { pin: '2026-07-28' } } })
  await client.connect(
    new StreamableHTTPClientTransport(new URL(url), { requestInit: { headers: { Authorization: `Bearer ${token}` } } }),
  )
  return client
}

async function startBareMcp(place: Place): Promise<string> {
  const child = spawn(process.execPath, [join(import.meta.dirname, 'bare-mcp.ts')], { stdio: ['ignore', 'pipe', 'inherit'] })
  place.onEnd(() => void child.kill())
  const [url] = (await once(createInterface(child.stdout), 'line')) as [string]
  return url
}
