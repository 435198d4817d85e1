import { createServer } from 'node:http'
import type { AddressInfo } from 'node:net'
import { getRequestListener } from '@hono/node-server'
import { createMcpHandler, McpServer } from '@modelcontextprotocol/server'
import { z } from 'zod'

/** One tool that looks a thing up in memory, on the official library as it comes; stores nothing, checks nothing. Prints where it listens. */
const handler = createMcpHandler(() => {
  const server = new McpServer({ name: 'bare', version: '1.0.0' })
  const shape = { task: z.string() }
  server.registerTool(
    'get_task',
    { description: 'Looks at a task.', inputSchema: z.object(shape), outputSchema: z.object({ ...shape, state: z.string() }) },
    async ({ task }) => ({ content: [{ type: 'text', text: task }], structuredContent: { task, state: 'completed' } }),
  )
  return server
})
const listener = getRequestListener((request) => handler.fetch(request))
const server = createServer((request, response) => void listener(request, response))
server.listen(0, '127.0.0.1', () => process.stdout.write(`http://127.0.0.1:${(server.address() as AddressInfo).port}\n`))
