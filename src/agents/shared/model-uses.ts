import type { WireName } from '../../domain/agent/models.ts'
import type { ModelUse } from '../port.ts'

const uses: Readonly<Record<WireName, ModelUse>> = {
  anthropic: { wire: 'anthropic', endpoint: 'https://api.anthropic.com', keys: [] },
  'openai-responses': { wire: 'openai-responses', endpoint: 'https://api.openai.com/v1', suffix: '/v1', keys: [] },
  'openai-chat': { wire: 'openai-chat', endpoint: 'https://api.openai.com/v1', suffix: '/v1', keys: [] },
  gemini: { wire: 'gemini', endpoint: 'https://generativelanguage.googleapis.com', keys: [] },
  ollama: { wire: 'ollama', endpoint: 'http://127.0.0.1:11434', keys: [] },
}

/** How a program that is only known by its settings asks for its model, where they say so. */
export const modelUse = (options: {
  readonly wire?: WireName | undefined
  readonly keys: readonly string[]
  readonly retries: boolean
  readonly wireKeys?: readonly string[] | undefined
  readonly baseUrlPath?: string | undefined
}): ModelUse | undefined => {
  const { wire, keys, wireKeys = keys, baseUrlPath, retries } = options
  if (wire === undefined) return undefined
  return { ...uses[wire], keys: wireKeys, retries, ...(baseUrlPath === undefined ? {} : { suffix: baseUrlPath }) }
}
