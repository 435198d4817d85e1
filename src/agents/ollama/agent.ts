import { type Adapter, canOnly } from '../../agent.ts'
import { ollamaCommand } from './command.ts'
import { openLoop } from './conversation.ts'
import { OllamaOptions } from './options.ts'
import { ownTools } from './own-tools.ts'
import { install, probeOllama } from './probe.ts'
import { ownEndpoint } from './server.ts'
import { sessionFiles } from './session-files.ts'

/** A model that Ollama serves, made an agent by a small loop of our own that runs inside the walls like any other program. */
export const ollama: Adapter<OllamaOptions> = {
  name: 'ollama',
  title: 'Ollama',
  options: OllamaOptions,
  can: canOnly(
    'resume',
    'preassignSession',
    'askPermission',
    'askQuestion',
    'warm',
    'usage',
    'mcp',
    'systemPrompt',
    'structuredOutput',
    'model',
    'skills',
    'nativeToolsOff',
  ),
  install,
  builtin: { name: 'ollama', options: OllamaOptions.parse({}) },
  sessions: sessionFiles,
  models: () => ({ wire: 'ollama', endpoint: ownEndpoint, keys: [], isFree: true }),
  codePaths: [{ path: 'AGENTS.md', treatment: 'text', runs: 'instructions' }],
  ownTools,
  probe: probeOllama,
  command: ollamaCommand,
  open: openLoop,
}
