import { anthropic } from './anthropic/wire.ts'
import { gemini } from './gemini/gemini.ts'
import { ollama } from './ollama/ollama.ts'
import { openaiChat } from './openai-chat/wire.ts'
import { openaiResponses } from './openai-responses/wire.ts'
import type { Wire, WireName } from './wire.ts'

/** All formats. */
export const wires: Readonly<Record<WireName, Wire>> = {
  anthropic,
  'openai-responses': openaiResponses,
  'openai-chat': openaiChat,
  gemini,
  ollama,
}
