import { z } from 'zod'

/** How MCP is served. */
export const McpEntry = z.strictObject({
  fixture: z
    .boolean({ error: 'must be true or false' })
    .optional()
    .describe('Also offers the tools, resources and prompts that the conformance suite of MCP asks for. Only for that.'),
})

export interface McpSettings {
  readonly fixture: boolean
}

export const mcpOf = (entry: z.output<typeof McpEntry> | null | undefined): McpSettings => ({ fixture: entry?.fixture ?? false })
