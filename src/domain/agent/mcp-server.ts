import { z } from 'zod'

/** What tools of it are called begins with it, in programs that join names by underscores. */
export const McpServerName = z
  .string()
  .regex(/^[A-Za-z0-9](?:[A-Za-z0-9-]|_(?!_)){0,39}$/, {
    error: 'must be a name of at most 40 letters, digits, - and single _, starting with a letter or digit',
  })
  .refine((name) => name.toLowerCase() !== 'pawl', { error: 'must be another name: "pawl" is the server of Pawl’s own tools' })
  .refine((name) => !(name in Object.prototype), { error: 'must be a name that JavaScript does not use itself' })

/** A text in which `${NAME}`, `${NAME:-otherwise}`, `${secret:NAME}` and `${file:PATH}` stand for what is kept elsewhere. */
const Template = z.string()
const times = { startTimeoutMs: z.int().positive().default(30_000), timeoutMs: z.int().positive().default(300_000) }

/** One of the user's servers of tools, with everything decided. Plain JSON, stored with each task: it names secrets and holds none. */
export const McpServer = z.discriminatedUnion('kind', [
  z.object({
    kind: z.literal('stdio'),
    command: Template,
    args: z.array(Template).readonly().default([]),
    env: z.record(z.string(), Template).default({}),
    /** As seen inside the walls; a relative one from the workspace, which it is if left out. */
    cwd: z.string().optional(),
    ...times,
  }),
  z.object({
    kind: z.literal('http'),
    url: Template,
    headers: z.record(z.string(), Template).default({}),
    /** `http` is streamable HTTP, in whatever revision the server speaks; `sse` the older way of two addresses. */
    transport: z.enum(['http', 'sse']).default('http'),
    /** How Pawl is let in where the server asks for OAuth. */
    oauth: z
      .object({
        clientId: Template.optional(),
        clientSecret: Template.optional(),
        /** Left out: a person signs in once. */
        grant: z.enum(['authorization_code', 'client_credentials']).default('authorization_code'),
        scope: z.string().optional(),
      })
      .optional(),
    ...times,
  }),
])
export type McpServer = z.infer<typeof McpServer>
export type StdioServer = Extract<McpServer, { kind: 'stdio' }>
export type HttpServer = Extract<McpServer, { kind: 'http' }>

/** Servers by name. */
export const McpServers = z.record(McpServerName, McpServer)
export type McpServers = z.infer<typeof McpServers>

/** Which of the servers: names, or `*` for all that there are. */
export const chosenServers = (servers: McpServers, choice: readonly string[] | undefined): McpServers =>
  choice === undefined || choice.includes('*')
    ? servers
    : Object.fromEntries(Object.entries(servers).filter(([name]) => choice.includes(name)))

/** What is known of a server since it was looked at last. */
export const McpHealth = z.object({
  state: z.enum(['reachable', 'failed', 'sign_in', 'unknown']).describe('unknown: nobody has looked at it yet.'),
  checkedAt: z.iso.datetime().nullable(),
  checkedBy: z.enum(['test', 'start', 'run']).nullable().describe('Somebody asked, the daemon started, or a run used it.'),
  server: z.string().nullable().describe('What it calls itself.'),
  version: z.string().nullable(),
  protocol: z.string().nullable().describe('The revision of MCP that was agreed upon.'),
  era: z.enum(['legacy', 'modern']).nullable().describe('legacy begins with initialize; modern is 2026-07-28 and later.'),
  tools: z.array(z.string()).nullable(),
  tookMs: z.int().nullable(),
  error: z.string().nullable().describe('Why it failed, and what to do about it.'),
  failedAt: z.iso.datetime().nullable().describe('When it failed last, also if it is reachable again.'),
  lastError: z.string().nullable(),
})
export type McpHealth = z.infer<typeof McpHealth>

export const McpServerView = z.object({
  name: z.string(),
  kind: z.enum(['stdio', 'http']),
  /** Without what secrets stand for: references are shown as they are written. */
  target: z.string().describe('Its command line, or its address; secrets are shown as they are named.'),
  transport: z.enum(['stdio', 'http', 'sse']),
  source: z.string().nullable().describe('The file and line that say it.'),
  agents: z.array(z.string()).describe('The agents that are offered it.'),
  signsIn: z.boolean().describe('Pawl is let in by OAuth.'),
  health: McpHealth,
})
export type McpServerView = z.infer<typeof McpServerView>

/** How it is spoken of where somebody looks; with what stands for secrets, never with them. */
export const targetOf = (server: McpServer): string =>
  server.kind === 'http' ? server.url : [server.command, ...server.args].map(quoted).join(' ')

const quoted = (word: string) => (/^[\w@%+=:,./${}-]+$/.test(word) ? word : `'${word.replaceAll("'", `'\\''`)}'`)
