import { Client, type ClientOptions, type ElicitRequestFormParams, type ElicitResult } from '@modelcontextprotocol/client'
import { version } from '../../base/version.ts'

export interface ClientParts {
  /** What a server is told when it asks for the folders it is for. */
  readonly workspace?: string | undefined
  /** Puts what a server wants to know to a person. Undefined: it is told beforehand that nobody can be asked. */
  elicit?: ((params: ElicitRequestFormParams) => Promise<ElicitResult>) | undefined
  /** The era to speak: found out if left out. */
  readonly era?: 'legacy' | undefined
  /** How long a program may be silent before it is taken for an old one. */
  readonly probeMs?: number | undefined
}

/** Speaks MCP to one server, in every revision that the SDK knows: those that begin with `initialize`, and those that describe themselves in each request. */
export function createClient({ workspace, elicit, era, probeMs = 5_000 }: ClientParts): Client {
  const capabilities: NonNullable<ClientOptions['capabilities']> = {
    ...(elicit ? { elicitation: { form: { applyDefaults: true } } } : {}),
    ...(workspace === undefined ? {} : { roots: {} }),
  }
  const client = new Client(
    { name: 'pawl', title: 'Pawl', version },
    {
      capabilities,
      versionNegotiation: { mode: era ?? 'auto', probe: { timeoutMs: probeMs } },
      jsonSchemaValidator: unchecked,
      // Half of a list would be a server that silently lacks tools.
      listMaxPages: 100,
    },
  )
  if (workspace !== undefined)
    client.setRequestHandler('roots/list', () => ({ roots: [{ uri: `file://${encodeURI(workspace)}`, name: 'workspace' }] }))
  if (elicit)
    client.setRequestHandler('elicitation/create', ({ params }) =>
      'requestedSchema' in params ? elicit(params as ElicitRequestFormParams) : { action: 'decline' },
    )
  return client
}

/**
 * Takes every answer of a server as it is. The SDK would compile the schemas of a foreign server and hold that server's own answers against them, on our only thread: a
 * pattern like `^(a+)+$` stops it for minutes. The agent's program, which gets schema and answer, checks them if it wants to.
 */
const unchecked: NonNullable<ClientOptions['jsonSchemaValidator']> = {
  getValidator: () => (input) => ({ valid: true, data: input as never, errorMessage: undefined }),
}
