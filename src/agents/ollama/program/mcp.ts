import { asObject } from '../../../domain/base/object.ts'
import { asText, parsed } from '../../shared/program-lines.ts'
import { post, textOf } from './post.ts'
import type { Returned, Tool } from './tool.ts'

const protocolVersion = '2025-06-18'

/** The tools of one server, served at the door by MCP over streamable HTTP. By hand: this starts with every run, and the official client takes ten times as long to load. */
export interface ServedTools {
  readonly name: string
  tools(without: readonly string[], signal: AbortSignal): Promise<Tool[]>
}

export function openServer(url: string, token: string, server: { readonly name: string; readonly path: string }): ServedTools {
  let lastId = 0
  let isGreeted = false

  async function send(method: string, params: object, signal: AbortSignal, isNotice = false): Promise<Record<string, unknown>> {
    const message = { jsonrpc: '2.0', method, params, ...(isNotice ? {} : { id: ++lastId }) }
    const headers = { accept: 'application/json, text/event-stream', 'mcp-protocol-version': protocolVersion }
    const { status, body } = await post(`${url}${server.path}`, message, { token, signal, headers })
    const text = await textOf(body)
    if (isNotice) return {}
    const reply = parsed(text) ?? {}
    const error = asObject(reply.error)
    if (error || status >= 300) throw new Error(asText(error?.message) || `the door answered ${status}`)
    return asObject(reply.result) ?? {}
  }

  async function call(name: string, input: object, signal: AbortSignal): Promise<Returned> {
    const result = await send('tools/call', { name, arguments: input }, signal)
    const parts = (Array.isArray(result.content) ? result.content : []).map((part) => asObject(part) ?? {})
    const images = parts.filter((part) => part.type === 'image').map((part) => asText(part.data))
    return {
      output: parts.flatMap((part) => (part.type === 'text' ? [asText(part.text)] : [])).join('\n'),
      isError: result.isError === true,
      ...(images.length > 0 ? { images } : {}),
    }
  }

  return {
    name: server.name,
    async tools(without, signal) {
      if (!isGreeted) {
        const clientInfo = { name: 'pawl-ollama', version: '1' }
        await send('initialize', { protocolVersion, capabilities: {}, clientInfo }, signal)
        await send('notifications/initialized', {}, signal, true)
        isGreeted = true
      }
      const { tools } = await send('tools/list', {}, signal)
      return (Array.isArray(tools) ? tools : []).flatMap((value) => {
        const tool = asObject(value) ?? {}
        const name = asText(tool.name)
        const whole = `mcp__${server.name}__${name}`
        if (name === '' || without.includes(whole)) return []
        return [
          {
            name: whole,
            description: asText(tool.description),
            parameters: asObject(tool.inputSchema) ?? { type: 'object', properties: {} },
            run: (input, { signal }) => call(name, input, signal),
          } satisfies Tool,
        ]
      })
    },
  }
}

/** Whether they may be called is decided where they are served. */
export const isServed = (name: string) => name.startsWith('mcp__')
