import { writeFile } from 'node:fs/promises'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import { afterAll, beforeAll, expect, test } from 'vitest'
import { serve } from '../e2e/pawl.ts'
import { makeHome, until } from '../engine/home.ts'

const fakeAgent = join(import.meta.dirname, '../fake-agent/fake-agent.js')
/** Says with which span it is called. */
const program = `
let rest = ''
process.stdin.setEncoding('utf8').on('data', (part) => {
  const lines = (rest + part).split('\\n')
  rest = lines.pop()
  for (const line of lines) {
    const { id, method, params = {} } = JSON.parse(line)
    if (method === 'server/discover') process.exit(1)
    const said = { content: [{ type: 'text', text: 'called within ' + params._meta?.traceparent + ' ' + params._meta?.tracestate }] }
    const results = {
      initialize: { protocolVersion: '2025-11-25', capabilities: { tools: {} }, serverInfo: { name: 'spans', version: '1' } },
      'tools/list': { tools: [{ name: 'look', inputSchema: { type: 'object' } }] },
      'tools/call': said,
    }
    if (id !== undefined) console.log(JSON.stringify({ jsonrpc: '2.0', id, result: results[method] ?? {} }))
  }
}).on('end', () => process.exit(0))`

let home: Awaited<ReturnType<typeof makeHome>>
let daemon: Awaited<ReturnType<typeof serve>>
beforeAll(async () => {
  home = await makeHome()
  const settings = {
    agents: { asker: { adapter: 'custom', command: [fakeAgent], mcp: { path: '.agent/mcp.json' } } },
    mcpServers: { spans: { command: process.execPath, args: ['--eval', program] } },
  }
  await writeFile(join(home.path, 'config.yaml'), JSON.stringify(settings), { mode: 0o600 })
  daemon = await serve(home.path)
}, 120_000)
afterAll(async () => {
  daemon.process.kill('SIGTERM')
  await daemon.ended
  await home.remove()
})

test('a span that asks by MCP, in either era, is the one that the user’s own servers hear of', { timeout: 120_000 }, async () => {
  const authorization = `Bearer ${daemon.token}`
  const traceparent = '00-4bf92f3577b34da6a3ce929d0e0e4736-00f067aa0ba902b7-01'
  const prompt = JSON.stringify([{ mcp: { server: 'spans', tool: 'look' } }])
  for (const [version, headers, _meta] of [
    ['2026-07-28', {}, { traceparent, tracestate: 'vendor=x' }],
    ['2025-11-25', { traceparent, tracestate: 'vendor=x' }, {}],
  ] as const) {
    const versionNegotiation = version === '2026-07-28' ? { versionNegotiation: { mode: { pin: version } } } : {}
    const client = new Client({ name: 'foreign', version: '1.0.0' }, { capabilities: {}, ...versionNegotiation })
    const requestInit = { headers: { authorization, ...headers } }
    await client.connect(new StreamableHTTPClientTransport(new URL(`${daemon.url}/mcp`), { requestInit }))
    const { structuredContent } = await client.callTool({ name: 'create_task', arguments: { prompt, agent: 'asker' }, _meta })
    const { id } = (structuredContent as { task: { id: string } }).task
    const task = await until(async () => {
      const answer = await fetch(`${daemon.url}/api/v1/tasks/${id}`, { headers: { authorization } })
      const seen = (await answer.json()) as { state: string; result: { text: string } | null }
      return seen.state === 'completed' ? seen : undefined
    }, 60_000)
    expect(task.result?.text, version).toContain(`called within ${traceparent} vendor=x`)
    await client.close()
  }
})
