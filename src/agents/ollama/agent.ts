import { type Adapter, canOnly } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { ollamaCommand } from './command.ts'
import { OllamaOptions } from './options.ts'
import { ownTools } from './own-tools.ts'
import { install, ownEndpoint } from './server.ts'
import { sessionFiles } from './session-files.ts'

const probing = loaded(() => import('./probe.ts'))
const conversing = loaded(() => import('./conversation.ts'))

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
  instructionFiles: ({ repositoryInstructions }) => ({ isWanted: repositoryInstructions, given: [['AGENTS.md', 'CLAUDE.md']] }),
  ownTools,
  probe: async (...asked) => (await probing()).probeOllama(...asked),
  command: ollamaCommand,
  open: async (...given) => (await conversing()).openLoop(...given),
}
