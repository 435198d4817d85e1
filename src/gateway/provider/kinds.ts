import type { ProviderKind, ProviderSettings, WireName } from '../../domain/agent/models.ts'

/** Where the makers serve their models; a kind that is nobody in particular has no such place. */
export const endpoints: Readonly<Record<Exclude<ProviderKind, 'openai-compatible'>, string>> = {
  anthropic: 'https://api.anthropic.com',
  openai: 'https://api.openai.com/v1',
  gemini: 'https://generativelanguage.googleapis.com',
  ollama: 'http://127.0.0.1:11434',
}

/** Models on a machine of one's own are paid for by nobody. */
export const isFree = (kind: ProviderKind) => kind === 'ollama'

/** The format in which a provider is asked. One that speaks both formats of OpenAI is asked in the client's own, so that nothing need be translated. */
export function wireOf({ wire, kind }: Pick<ProviderSettings, 'wire' | 'kind'>, client: WireName | undefined): WireName {
  if (wire !== undefined) return wire
  if (kind === 'openai-compatible') return 'openai-chat'
  return kind !== 'openai' ? kind : client === 'openai-chat' ? client : 'openai-responses'
}
