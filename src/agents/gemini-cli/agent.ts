import { type Adapter, canOnly } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { codePaths, instructionFiles, ownInstructions, repositoryFeatures } from './code-paths.ts'
import { geminiCommand } from './command.ts'
import { login } from './login.ts'
import { GeminiCliOptions } from './options.ts'
import { goesOn, ownTools } from './rules.ts'
import { sessionFiles } from './session-files.ts'
import { ownEndpoint } from './settings.ts'
import { chooseTransport } from './transport.ts'
import { install, tried } from './versions.ts'

const probing = loaded(() => import('./probe.ts'))
const speakingAcp = loaded(() => import('./acp.ts'))
const oneShot = loaded(() => import('./one-shot.ts'))

/** Google's Gemini CLI: by ACP while its process lives, by one-shot calls when an earlier conversation is gone on with. */
export const geminiCli: Adapter<GeminiCliOptions> = {
  name: 'gemini-cli',
  title: 'Gemini CLI',
  options: GeminiCliOptions,
  can: canOnly(
    'resume',
    'askPermission',
    'warm',
    'usage',
    'mcp',
    'systemPrompt',
    'ownLogin',
    'model',
    'skills',
    'nativeToolsOff',
    'images',
  ),
  builtin: { name: 'gemini', options: GeminiCliOptions.parse({}) },
  sessions: sessionFiles,
  login,
  models: () => ({
    wire: 'gemini',
    endpoint: ownEndpoint,
    keys: login.variables,
    firstRequest: { mostTokens: 22_000, cheapestModel: 'gemini-2.5-flash' },
  }),
  hosts: ['generativelanguage.googleapis.com:443', 'cloudcode-pa.googleapis.com:443', 'oauth2.googleapis.com:443'],
  codePaths,
  instructionFiles: ({ repositoryInstructions }) => ({
    isWanted: repositoryInstructions,
    given: instructionFiles,
    own: ownInstructions,
  }),
  repositoryFeatures,
  ownTools,
  tried,
  install,
  goesOn,
  probe: async (...asked) => (await probing()).probeGemini(...asked),
  command: geminiCommand,
  async open(child, spec) {
    if (chooseTransport(spec) === 'acp') return (await speakingAcp()).openWarm(child, spec)
    return (await oneShot()).openOneShot(child, spec)
  },
}
