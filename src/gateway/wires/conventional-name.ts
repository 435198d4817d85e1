import type { WireName } from './wire.ts'

/** As the conventions of OpenTelemetry call those who spoke a format first; whoever else speaks it has a name of its own beside it. */
export const conventionalName: Readonly<Partial<Record<WireName, string>>> = {
  anthropic: 'anthropic',
  'openai-responses': 'openai',
  'openai-chat': 'openai',
  gemini: 'gcp.gemini',
}
