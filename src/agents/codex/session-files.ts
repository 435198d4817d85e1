import { createHash } from 'node:crypto'
import { isObjectOrArray } from '../../domain/base/object.ts'
import type { Utterance } from '../../domain/event/transcript.ts'
import type { CredentialFile, Login, RebuildPlace, SessionFiles } from '../port.ts'
import { parseJson } from '../shared/json.ts'
import { providerId } from './settings.ts'

/** The program finds a conversation by the id in the file's name; the folders of its date are only where new ones are put. */
export const sessionFiles: SessionFiles = {
  id: /^[0-9a-f]{8}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{4}-[0-9a-f]{12}$/,
  layouts: (vendorId) => [`.codex/sessions/*/*/*/rollout-*${vendorId}.jsonl`, `.codex/sessions/rollout-*${vendorId}.jsonl`],
  rebuild,
}

function rebuild(transcript: readonly Utterance[], place: RebuildPlace): { path: string; content: string } {
  const began = transcript[0]?.at ?? new Date(0).toISOString()
  const meta = {
    // All five of them are needed; the provider as well, or the program takes the one of its own settings.
    id: place.vendorId,
    timestamp: began,
    cwd: place.workspace,
    originator: 'pawl',
    cli_version: versionOf(place) ?? '0.0.0',
    model_provider: providerId,
  }
  const rows = [{ timestamp: began, type: 'session_meta', payload: meta }, ...transcript.flatMap(rowsOf)]
  const content = rows.map((row) => `${JSON.stringify(row)}\n`).join('')
  return { path: `.codex/sessions/${datePath(began)}-${place.vendorId}.jsonl`, content }
}

/** What the model will see is the `response_item`; the `event_msg` is what the program itself lists as said. */
function rowsOf(said: Utterance, index: number): object[] {
  const row = (type: string, payload: object) => ({ timestamp: said.at, type, payload })
  switch (said.kind) {
    case 'user':
      return [
        row('response_item', { type: 'message', role: 'user', content: [{ type: 'input_text', text: said.text }] }),
        row('event_msg', { type: 'user_message', message: said.text }),
      ]
    case 'agent':
      return [
        row('response_item', { type: 'message', role: 'assistant', content: [{ type: 'output_text', text: said.text }] }),
        row('event_msg', { type: 'agent_message', message: said.text }),
      ]
    case 'tool': {
      // The model's own id of a call may be long, or come twice in one journal; the service allows neither.
      const call_id = `call_${createHash('sha256').update(`${index} ${said.callId}`).digest('hex').slice(0, 24)}`
      const name = said.tool.replace(/[^A-Za-z0-9_-]/g, '_').slice(0, 64) || 'tool'
      const output = said.output ?? 'Nobody knows how this call ended.'
      return [
        row('response_item', { type: 'function_call', name, arguments: JSON.stringify(said.input ?? {}), call_id }),
        row('response_item', { type: 'function_call_output', call_id, output: said.isError ? `Error: ${output}` : output }),
      ]
    }
  }
}

const versionOf = ({ version }: RebuildPlace) => version && /\d{1,9}\.\d{1,9}\.\d{1,9}\S*/.exec(version)?.[0]

function datePath(at: string): string {
  const [date = '1970-01-01', time = '00:00:00'] = at.slice(0, 19).split('T')
  return `${date.replaceAll('-', '/')}/rollout-${date}T${time.replaceAll(':', '-')}`
}

const authFile: CredentialFile = {
  path: '.codex/auth.json',
  newness(text) {
    const { refreshed, token, key } = readAuth(text) ?? {}
    if (refreshed !== undefined) return refreshed
    if (token !== undefined) return expiryOf(token) ?? 0
    return key ? 0 : undefined
  },
  expiresAt(text) {
    const token = readAuth(text)?.token
    return token === undefined ? undefined : expiryOf(token)
  },
  account(text) {
    const { account, key } = readAuth(text) ?? {}
    return account ?? (key === undefined ? undefined : 'key')
  },
}

function readAuth(text: string): { refreshed?: number; token?: string; key?: string; account?: string } | undefined {
  const parsed = parseJson(text)
  if ('fault' in parsed || !isObjectOrArray(parsed.value)) return undefined
  const { last_refresh, tokens, OPENAI_API_KEY: key } = parsed.value as Record<string, unknown>
  const refreshed = typeof last_refresh === 'string' ? Date.parse(last_refresh) : Number.NaN
  const { access_token: token, account_id: account } = (tokens ?? {}) as { access_token?: unknown; account_id?: unknown }
  return {
    ...(!Number.isNaN(refreshed) && { refreshed }),
    ...(typeof token === 'string' && { token }),
    ...(typeof key === 'string' && { key }),
    ...(typeof account === 'string' && { account }),
  }
}

/** The expiry that a token names in its middle part, in milliseconds. */
function expiryOf(token: string): number | undefined {
  const parsed = parseJson(Buffer.from(token.split('.')[1] ?? '', 'base64url').toString())
  const exp = 'value' in parsed ? (parsed.value as { exp?: unknown } | null)?.exp : undefined
  return typeof exp === 'number' ? exp * 1000 : undefined
}

export const login: Login = { variables: ['OPENAI_API_KEY', 'CODEX_API_KEY'], files: [authFile] }
