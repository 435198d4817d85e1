import type { ToolExchange } from '../../domain/agent/tool-exchange.ts'
import { asObject, type Fields } from '../../domain/base/object.ts'
import { messageOf } from '../../domain/error.ts'
import { type ControlRequest, textOf } from './translate.ts'

/** The name of our own server; every other is the user's. */
const ours = 'pawl'

/** Answers the messages of MCP that the program sends over its own pipe, where a connection would cost it a tenth of its start. */
export interface ToolPipe {
  /** Never rejects. */
  answer(request: ControlRequest): Promise<object>
}

export function createToolPipe(exchange: ToolExchange | undefined): ToolPipe {
  const calls = new Map<string, AbortController>()

  async function answered(server: string, message: Fields): Promise<object | undefined> {
    if (!exchange) throw new Error('No tools are served here.')
    const id = keyOf(server, message.id)
    const call = new AbortController()
    calls.set(id, call)
    try {
      return await exchange(message, { server: server === ours ? undefined : server, signal: call.signal })
    } finally {
      if (calls.get(id) === call) calls.delete(id)
    }
  }

  return {
    async answer({ fields }) {
      const message = asObject(fields.message) ?? {}
      const server = textOf(fields.server_name) ?? ''
      if (message.method === 'notifications/cancelled') calls.get(keyOf(server, asObject(message.params)?.requestId))?.abort()
      if (message.id === undefined) return nothing
      try {
        return (await answered(server, message)) ?? nothing
      } catch (thrown) {
        return { jsonrpc: '2.0', id: message.id, error: { code: -32000, message: messageOf(thrown) } }
      }
    },
  }
}

const keyOf = (server: string, id: unknown) => `${server} ${JSON.stringify(id)}`

/** The program wants an answer to what needs none, too. */
const nothing = { jsonrpc: '2.0', id: 0, result: {} }

export const isForTools = ({ subtype }: ControlRequest) => subtype === 'mcp_message'

/** It uses a tool, rather than asks which there are or takes something back. */
export const isCall = ({ fields }: ControlRequest) => asObject(fields.message)?.method === 'tools/call'
