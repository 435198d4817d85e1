import type { McpServerView } from '../../domain/agent/mcp-server.ts'
import type { Page } from '../../domain/view/view.ts'
import { api, type Wire } from '../transport/wire.ts'

/** The user's servers of tools, and how they are. */
export interface McpServerCalls {
  listMcpServers(): Promise<McpServerView[]>
  getMcpServer(name: string): Promise<McpServerView>
  /** Starts or reaches it now, as a run with that profile would. */
  testMcpServer(name: string, options?: { profile?: string | undefined }): Promise<McpServerView>
  beginMcpSignIn(name: string, redirectUrl: string): Promise<{ url: string }>
  finishMcpSignIn(name: string, query: string): Promise<McpServerView>
}

export const mcpServerCalls = ({ get, post }: Wire): McpServerCalls => ({
  listMcpServers: async () => (await get<Page<McpServerView>>(`${api}/mcp-servers`)).items,
  getMcpServer: (name) => get(serverPath(name)),
  testMcpServer: (name, { profile } = {}) => post(`${serverPath(name)}/test`, { profile }, false),
  beginMcpSignIn: (name, redirectUrl) => post(`${serverPath(name)}/sign-in`, { redirectUrl }, false),
  finishMcpSignIn: (name, query) => post(`${serverPath(name)}/sign-in/finish`, { query }, false),
})

const serverPath = (name: string) => `${api}/mcp-servers/${encodeURIComponent(name)}`
