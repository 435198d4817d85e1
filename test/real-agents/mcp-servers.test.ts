import { join } from 'node:path'
import { afterAll, beforeAll, expect, test } from 'vitest'
import type { McpServers } from '../../src/domain/agent/mcp-server.ts'
import { type HttpPeer, startHttpPeer } from '../mcp-servers/http-server.ts'
import { geminiProgram, type Machine, ollamaLoop, opencodeProgram, patienceMs, programs, startMachine } from './peer.ts'

const token = 'library-token-0123456789'
const secret = 'notes-secret-9876543210'

let machine: Machine
let library: HttpPeer
beforeAll(async () => {
  machine = await startMachine()
  library = await startHttpPeer({ token })
  await machine.daemon.secrets.setSecret('global', 'NOTES', secret, { by: 'test' })
  await machine.daemon.secrets.setSecret('global', 'LIBRARY', token, { by: 'test' })
})
afterAll(async () => {
  await machine?.stop()
  await library?.stop()
})

const servers = (): McpServers => ({
  notes: {
    kind: 'stdio',
    command: process.execPath,
    args: [join(import.meta.dirname, '../mcp-servers/stdio-server.js')],
    env: { NOTES_TOKEN: `\${secret:NOTES}` },
    startTimeoutMs: 60_000,
    timeoutMs: 60_000,
  },
  library: {
    kind: 'http',
    url: library.url,
    headers: { Authorization: `Bearer \${secret:LIBRARY}` },
    transport: 'http',
    startTimeoutMs: 60_000,
    timeoutMs: 60_000,
  },
})

for (const program of [...programs, ollamaLoop, geminiProgram, opencodeProgram])
  test(`the real ${program.agent} calls the user's own servers from inside its walls`, { timeout: 2 * patienceMs }, async () => {
    const agentConfig = machine.agent(program, 'user-server', { mcpServers: servers() })
    const workspace = await machine.workspace()
    const { task, events } = await machine.run({ agentConfig, workspace, attended: true })
    const called = events.flatMap((event) =>
      event.type === 'agent.tool_called' ? [event.data.tool.replace(/^(\w+)\./, 'mcp__$1__')] : [],
    )
    const returned = events.flatMap((event) => (event.type === 'agent.tool_returned' ? [event.data.output] : []))
    expect({ state: task.state, called }).toEqual({ state: 'completed', called: ['mcp__notes__echo', 'mcp__library__find'] })
    expect(returned.join('\n')).toContain('you said: from the model')
    expect(returned.join('\n')).toContain('found: Walden; the token was [redacted')
    expect(task.result?.text).toContain('Second: ')
    expect(JSON.stringify(machine.models.requests.map(({ body }) => body))).not.toContain(token)
    expect(JSON.stringify(events)).not.toContain(secret)
    expect(events.filter((event) => event.type === 'run.noted' && event.data.code === 'mcp_server_failed')).toEqual([])
  })
