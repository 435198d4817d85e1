/**
 * Our client of MCP as the conformance suite starts it, with the address of a server as its last argument: it connects, asks for everything there is, calls every tool,
 * and signs in where it is asked to. All that speaks the protocol is what runs use; only the person who signs in, and who answers forms, is played here.
 */
import { UnauthorizedError } from '@modelcontextprotocol/client'
import { silentLog } from '../../src/base/log.ts'
import { reachServer } from '../../src/engine/mcp-servers/reach.ts'
import { createWebFetch } from '../../src/sandbox/egress/web-fetch.ts'
import { createClient } from '../../src/tools/servers/client.ts'
import { transportTo } from '../../src/tools/servers/connect.ts'
import { createOAuth, keepInMemory } from '../../src/tools/servers/oauth.ts'

const url = new URL(process.argv.at(-1)!)
const {
  MCP_CONFORMANCE_CONTEXT: written = '{}',
  MCP_CONFORMANCE_PROTOCOL_VERSION: revision = '',
  MCP_CONFORMANCE_SCENARIO: scenario = '',
} = process.env
const context = JSON.parse(written) as {
  client_id?: string
  client_secret?: string
  toolCalls?: { name: string; arguments: Record<string, unknown> }[]
}
const era = revision !== '' && revision < '2026-07-28' ? ('legacy' as const) : undefined
const profile = { name: 'guarded', network: { allow: [], ask: [], deny: [] } }
// The suite's authorization servers listen on this machine, on ports of their own.
const way = {
  open: (host: string, port: number) =>
    reachServer(new URL(`http://${host}:${port}`), { others: true, profile, log: silentLog, record: () => undefined }).open(
      host,
      port,
    ),
}
const fetch = createWebFetch(way.open)

const isAlone = /client-credentials/.test(scenario)
let shown: URL | undefined
const provider = createOAuth(
  'suite',
  {
    grant: isAlone ? 'client_credentials' : 'authorization_code',
    clientId: context.client_id,
    clientSecret: context.client_secret,
  },
  {
    keeper: keepInMemory(),
    signIn: {
      redirectUrl: 'http://127.0.0.1:3000/callback',
      clientMetadataUrl: 'https://conformance-test.local/client-metadata.json',
      show(at) {
        shown = at
      },
    },
  },
)

/** A person's browser: goes there, is let in at once, and is sent back with the answer. */
async function signIn(): Promise<URLSearchParams> {
  const response = await fetch(shown!)
  const back = response.headers.get('location')
  if (!back) throw new Error(`nobody is sent back by ${shown} (${response.status})`)
  return new URL(back).searchParams
}

const transport = () => transportTo(url, { transport: 'http', headers: {}, fetch, authProvider: provider })
const client = createClient({
  workspace: '/workspace',
  era,
  probeMs: 180_000,
  elicit: async () => ({ action: 'accept', content: {} }),
})

/** Asks again after signing in, as a person would who is sent there; not for ever. */
async function signedIn<T>(work: () => Promise<T>, current: () => ReturnType<typeof transport>): Promise<T> {
  for (let tries = 0; ; tries++) {
    try {
      return await work()
    } catch (error) {
      if (!(error instanceof UnauthorizedError) || !shown || tries >= 2) throw error
      await current().finishAuth(await signIn())
      shown = undefined
    }
  }
}

async function main(): Promise<void> {
  let open = transport()
  await signedIn(
    async () => {
      await client.connect(open, { timeout: 180_000 }).catch(async (error: unknown) => {
        await client.close().catch(() => undefined)
        throw error
      })
    },
    () => {
      const before = open
      open = transport()
      return before
    },
  )
  const can = client.getServerCapabilities() ?? {}
  const call = (name: string, input: Record<string, unknown>) =>
    signedIn(
      () => client.callTool({ name, arguments: input }),
      () => open,
    ).catch((error: unknown) => console.error(`${name}: ${error}`))

  if (can.tools) {
    const { tools } = await signedIn(
      () => client.listTools(),
      () => open,
    )
    for (const tool of tools) {
      const asked = context.toolCalls?.filter(({ name }) => name === tool.name) ?? []
      if (asked.length > 0) for (const { name, arguments: input } of asked) await call(name, input)
      else
        await call(tool.name, tool.name === 'json_schema_echo' ? { schema: tools[0]!.inputSchema } : inputFor(tool.inputSchema))
    }
  }
  if (can.resources) {
    const { resources } = await client.listResources()
    for (const { uri } of resources) await client.readResource({ uri })
  }
  if (can.prompts) {
    const { prompts } = await client.listPrompts()
    for (const { name } of prompts) await client.getPrompt({ name })
  }
  await client.close()
}

/** Something that fits what the tool wants. */
function inputFor(schema: { properties?: Record<string, unknown> | undefined }): Record<string, unknown> {
  const values: Record<string, unknown> = { number: 5, integer: 5, boolean: true, string: 'text', array: [], object: {} }
  return Object.fromEntries(
    Object.entries(schema.properties ?? {}).map(([name, property]) => [
      name,
      values[(property as { type?: string }).type ?? 'string'],
    ]),
  )
}

// Some scenarios want to see it refuse; what it says of that is told in one line.
await main().then(
  () => process.exit(0),
  (error: unknown) => {
    console.error(`refused: ${error instanceof Error ? error.message : error}`)
    process.exit(1)
  },
)
