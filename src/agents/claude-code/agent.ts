import { type Adapter, canOnly } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { codePaths, instructionFiles, repositoryFeatures } from './code-paths.ts'
import { claudeCommand } from './command.ts'
import { login } from './login.ts'
import { ownTools } from './native-tools.ts'
import { ClaudeCodeOptions } from './options.ts'
import { sessions } from './session-files.ts'
import { install, tried } from './versions.ts'

const probing = loaded(() => import('./probe.ts'))
const conversing = loaded(() => import('./conversation.ts'))

/** Anthropic's Claude Code, as one process that stays for many turns. */
export const claudeCode: Adapter<ClaudeCodeOptions> = {
  name: 'claude-code',
  title: 'Claude Code',
  options: ClaudeCodeOptions,
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
    'ownLogin',
    'model',
    'skills',
    'subagents',
    'nativeToolsOff',
    'images',
  ),
  builtin: { name: 'claude', options: ClaudeCodeOptions.parse({}) },
  sessions,
  login,
  models: () => ({
    wire: 'anthropic',
    endpoint: 'https://api.anthropic.com',
    keys: ['ANTHROPIC_API_KEY'],
    firstRequest: { mostTokens: 48_000, cheapestModel: 'claude-haiku-4-5' },
  }),
  hosts: ['api.anthropic.com:443', 'console.anthropic.com:443', 'platform.claude.com:443'],
  codePaths,
  instructionFiles: ({ repositoryInstructions }) => ({ isWanted: repositoryInstructions, given: instructionFiles }),
  repositoryFeatures,
  ownTools,
  tried,
  install,
  probe: async (...asked) => (await probing()).probeClaude(...asked),
  command: claudeCommand,
  open: async (...given) => (await conversing()).openConversation(...given),
}
