import { type Adapter, canOnly } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { codePaths, instructionFiles, repositoryFeatures } from './code-paths.ts'
import { codexCommand } from './command.ts'
import { CodexOptions } from './options.ts'
import { ownTools } from './rules.ts'
import { login, sessionFiles } from './session-files.ts'
import { ownEndpoint } from './settings.ts'
import { chooseTransport, install, tried } from './transport.ts'

const probing = loaded(() => import('./probe.ts'))
const execution = loaded(() => import('./exec.ts'))
const conversing = loaded(() => import('./conversation.ts'))

/** OpenAI's Codex, spoken to by its app-server, or by `codex exec` where a version is too old for that. */
export const codex: Adapter<CodexOptions> = {
  name: 'codex',
  title: 'Codex',
  options: CodexOptions,
  can: canOnly(
    'resume',
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
    'images',
  ),
  builtin: { name: 'codex', options: CodexOptions.parse({}) },
  sessions: sessionFiles,
  login,
  models: () => ({
    wire: 'openai-responses',
    endpoint: ownEndpoint,
    suffix: '/v1',
    keys: login.variables,
    firstRequest: { mostTokens: 17_000, cheapestModel: 'gpt-5-mini' },
  }),
  hosts: ['api.openai.com:443', 'chatgpt.com:443', 'auth.openai.com:443'],
  codePaths,
  instructionFiles: ({ repositoryInstructions }) => ({ isWanted: repositoryInstructions, given: instructionFiles }),
  repositoryFeatures,
  ownTools,
  tried,
  install,
  probe: async (...asked) => (await probing()).probeCodex(...asked),
  command: codexCommand,
  async open(child, spec) {
    if (chooseTransport(spec) === 'exec') return (await execution()).openExec(child, spec)
    return (await conversing()).openAppServer(child, spec)
  },
}
