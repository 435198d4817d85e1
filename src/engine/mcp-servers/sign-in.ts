import type { McpServer } from '../../domain/agent/mcp-server.ts'

/** People who are just signing in somewhere for Pawl. What they have not finished when Pawl stops, they begin again. */
export interface SignIns {
  begin(name: string, server: McpServer, redirectUrl: string): Promise<{ readonly url: string }>
  finish(name: string, query: string): Promise<void>
}
