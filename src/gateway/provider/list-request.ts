import type { WireName } from '../../domain/agent/models.ts'
import { wires } from '../wires/index.ts'

const lists: Readonly<Record<WireName, string>> = {
  anthropic: '/v1/models',
  'openai-responses': '/models',
  'openai-chat': '/models',
  gemini: '/v1beta/models',
  ollama: '/api/tags',
}

/** How a provider is asked for its models, which costs nothing. The path is below its base URL. */
export const askForList = (
  wire: WireName,
  key: string | undefined,
): { readonly path: string; readonly headers: Readonly<Record<string, string>> } => ({
  path: lists[wire],
  headers: key === undefined ? {} : wires[wire].authorization(key),
})
