import type { McpServer } from '../../domain/agent/mcp-server.ts'
import { messageOf, PawlError } from '../../domain/error.ts'
import { createRedactor, type Redactor } from '../../redact/redactor.ts'
import { type Connected, connectServer } from './connect.ts'
import { type ServerFacts, type ServerPlace, signInReason } from './port.ts'

/** One of the user's servers while a run has it: started or reached by whoever needs it first, and again if it is lost. */
export interface Upstream {
  readonly name: string
  readonly server: McpServer
  get(): Promise<Connected & { readonly redactor: Redactor }>
  /** What was reached does not answer any more: the next one to ask connects anew. */
  drop(client: Connected['client'], why: string): void
  close(): Promise<void>
}

export interface Telling {
  /** It answers; once for each time that it was connected to. */
  onReached(facts: ServerFacts & { readonly tools: readonly string[]; readonly tookMs: number }): void
  /** It cannot be used, or is gone. The sentence says what to do. */
  onFailed(sentence: string, isSignIn: boolean): void
}

/** A server that ends again and again is not started for ever. */
const mostFailures = 3

export function createUpstream(name: string, server: McpServer, place: ServerPlace, telling: Telling): Upstream {
  const closing = new AbortController()
  const dropped = new WeakMap<Connected['client'], string>()
  let current: Promise<Connected & { redactor: Redactor }> | undefined
  let failures = 0
  let final: unknown

  function fail(error: unknown): void {
    failures++
    const isSignIn = error instanceof PawlError && (error.details as { reason?: unknown } | undefined)?.reason === signInReason
    // Silence would only be waited for again, and who is not let in is not let in a moment later.
    if (failures >= mostFailures || isSignIn || /did not answer within/.test(messageOf(error))) final = error
    telling.onFailed(messageOf(error), isSignIn)
  }

  async function connect(): Promise<Connected & { redactor: Redactor }> {
    const begun = performance.now()
    try {
      const made = await connectServer(name, server, place, closing.signal)
      const redactor = createRedactor()
      for (const secret of made.secrets) redactor.add(`secret of ${name}`, secret)
      const tools = made.client.getServerCapabilities()?.tools
        ? (await made.client.listTools(undefined, { timeout: server.startTimeoutMs, signal: closing.signal })).tools.map(
            (tool) => tool.name,
          )
        : []
      telling.onReached({ ...made.facts, tools, tookMs: Math.round(performance.now() - begun) })
      return {
        ...made,
        redactor,
        get gone() {
          return dropped.get(made.client) ?? made.gone
        },
      }
    } catch (error) {
      if (!closing.signal.aborted) fail(error)
      throw error
    }
  }

  return {
    name,
    server,
    async get() {
      closing.signal.throwIfAborted()
      const before = current
      if (before) {
        const known = await before.catch(() => undefined)
        if (known && known.gone === undefined) return known
        if (known && before === current) fail(new PawlError('unavailable', `The server "${name}" was lost: ${known.gone}`))
        if (before === current) current = undefined
      }
      if (final !== undefined) throw final
      current ??= connect()
      return current
    },
    drop(client, why) {
      dropped.set(client, why)
      void client.close().catch(() => undefined)
    },
    async close() {
      closing.abort()
      await current?.then(
        (made) => made.close(),
        () => undefined,
      )
    },
  }
}
