import { mkdtemp, readFile } from 'node:fs/promises'
import { tmpdir } from 'node:os'
import { join } from 'node:path'
import { Client, StreamableHTTPClientTransport } from '@modelcontextprotocol/client'
import type { Daemon } from '../../src/daemon/daemon.ts'
import { makeHome, startEngine } from '../engine/home.ts'

/** A daemon with a port, and clients that others have written to speak to it. */
export interface McpPeer {
  readonly home: string
  readonly token: string
  daemon: Daemon
  url(): string
  workspace(): Promise<string>
  restart(): Promise<void>
  remove(): Promise<void>
}

export async function startPeer(): Promise<McpPeer> {
  const home = await makeHome('pawl-mcp-')
  const start = () => startEngine(home.path, { http: true, env: { PAWL_PORT: '0' } })
  const daemon = await start()
  const peer: McpPeer = {
    home: home.path,
    token: (await readFile(join(home.path, 'token'), 'utf8')).trim(),
    daemon,
    url: () => `${peer.daemon.url}/mcp`,
    workspace: () => mkdtemp(join(tmpdir(), 'pawl-mcp-work-')),
    async restart() {
      await peer.daemon.stop()
      peer.daemon = await start()
    },
    async remove() {
      await peer.daemon.stop()
      await home.remove()
    },
  }
  return peer
}

const transportTo = (peer: McpPeer, token: string) =>
  new StreamableHTTPClientTransport(new URL(peer.url()), { requestInit: { headers: { Authorization: `Bearer ${token}` } } })

/** The official client of the newer era. What it is asked is answered with the first choice. */
export async function modernClient(peer: McpPeer, { token = peer.token, elicits = true } = {}): Promise<Client> {
  const client = new Client(
    { name: 'foreign', version: '1.0.0' },
    { capabilities: elicits ? { elicitation: {} } : {}, versionNegotiation: { mode: { pin: '2026-07-28' } } },
  )
  if (elicits) client.setRequestHandler('elicitation/create', ({ params }) => accepted(params))
  await client.connect(transportTo(peer, token))
  return client
}

/** What somebody answers who takes the first choice. */
export function accepted(params: unknown) {
  const { properties } = (params as { requestedSchema: { properties: Record<string, { enum?: string[] }> } }).requestedSchema
  const choice = properties.choice?.enum?.[0]
  return { action: 'accept' as const, content: choice === undefined ? { answer: 'go on' } : { choice } }
}

export const tasksExtension = 'io.modelcontextprotocol/tasks'
let asked = 0

/** One request of the newer era, by hand: the official client knows no tasks yet. */
export async function rpc<T = Record<string, unknown>>(
  peer: Pick<McpPeer, 'url' | 'token'>,
  method: string,
  params: Record<string, unknown> = {},
  {
    token = peer.token,
    capabilities = { elicitation: {}, extensions: { [tasksExtension]: {} } } as Record<string, unknown>,
  } = {},
): Promise<{ status: number; result: T; error?: { code: number; message: string; data?: unknown } }> {
  const name = params.name ?? params.taskId ?? params.uri
  const response = await fetch(peer.url(), {
    method: 'POST',
    headers: {
      'Content-Type': 'application/json',
      Accept: 'application/json, text/event-stream',
      Authorization: `Bearer ${token}`,
      'MCP-Protocol-Version': '2026-07-28',
      'Mcp-Method': method,
      ...(typeof name === 'string' ? { 'Mcp-Name': name } : {}),
    },
    body: JSON.stringify({
      jsonrpc: '2.0',
      id: ++asked,
      method,
      params: {
        ...params,
        _meta: {
          'io.modelcontextprotocol/protocolVersion': '2026-07-28',
          'io.modelcontextprotocol/clientInfo': { name: 'by-hand', version: '1.0.0' },
          'io.modelcontextprotocol/clientCapabilities': capabilities,
        },
      },
    }),
  })
  const text = await response.text()
  const json = response.headers.get('content-type')?.startsWith('text/event-stream')
    ? text
        .split('\n')
        .findLast((line) => line.startsWith('data:') && line.includes('"id"'))!
        .slice(5)
    : text
  return { status: response.status, ...JSON.parse(json) }
}
