import type { ProviderSettings } from '../../domain/agent/models.ts'
import { messageOf } from '../../domain/error.ts'
import { wireOf } from '../../gateway/provider/kinds.ts'
import { connectAsNamed, createHttpClient, discard } from '../../sandbox/egress/http-client.ts'

export interface Reach {
  readonly ok: boolean
  readonly detail: string
}

const patienceMs = 5_000

/** Asks a provider for the list of its models, which costs nothing. Answers, never throws. */
export async function reachProvider(settings: ProviderSettings, key: string | undefined): Promise<Reach> {
  // It knows all formats, and is hardly ever asked.
  const { askForList } = await import('../../gateway/provider/list-request.ts')
  const { path, headers } = askForList(wireOf(settings, undefined), key)
  const { host } = new URL(settings.baseUrl)
  const client = createHttpClient(connectAsNamed)
  try {
    const answer = await client.send(new URL(`${settings.baseUrl}${path}`), {
      headers,
      signal: AbortSignal.timeout(patienceMs),
    })
    await discard(answer)
    const { statusCode: status = 0 } = answer
    if (status === 401 || status === 403) return { ok: false, detail: `${host} answers, and refuses the key (${status})` }
    // Not every service that speaks a maker's format has the list.
    if (status === 404 || status === 405)
      return {
        ok: true,
        detail: `${host} answers, but knows no ${path} (${status}); if it serves no model either, correct its baseUrl`,
      }
    if (status < 300) return { ok: true, detail: `${host} answers` }
    return { ok: false, detail: `${host} answers with ${status}` }
  } catch (error) {
    const why = error instanceof DOMException ? `no answer within ${patienceMs / 1000} s` : causeOf(error)
    return { ok: false, detail: `${host} cannot be reached: ${why}` }
  } finally {
    client.close()
  }
}

/** What went wrong stands below what the client says of it. */
function causeOf(error: unknown): string {
  const cause = error instanceof Error ? error.cause : undefined
  const code = cause instanceof Error ? (cause as NodeJS.ErrnoException).code : undefined
  return code ?? messageOf(cause ?? error)
}
