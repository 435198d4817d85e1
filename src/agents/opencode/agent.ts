import { type Adapter, canOnly } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { codePaths, instructionFiles, repositoryFeatures } from './code-paths.ts'
import { opencodeCommand } from './command.ts'
import { OpencodeOptions } from './options.ts'
import { ownTools } from './permissions.ts'
import { sessionFiles } from './session-files.ts'
import { wires } from './settings.ts'
import { chooseTransport, install, tried } from './versions.ts'

const probing = loaded(() => import('./probe.ts'))
const running = loaded(() => import('./run.ts'))

/** opencode, spoken to over the Agent Client Protocol, or by `opencode run` where a version is too old for that. */
export const opencode: Adapter<OpencodeOptions> = {
  name: 'opencode',
  title: 'opencode',
  options: OpencodeOptions,
  can: canOnly('resume', 'askPermission', 'warm', 'usage', 'mcp', 'systemPrompt', 'model', 'skills', 'nativeToolsOff'),
  builtin: { name: 'opencode', options: OpencodeOptions.parse({}) },
  sessions: sessionFiles,
  login: { variables: Object.values(wires).map(({ key }) => key), files: [] },
  models: ({ wire }) => ({ wire, endpoint: wires[wire].endpoint, suffix: '/v1', keys: [wires[wire].key], retries: true }),
  suited: (options) => ({ ...opencode, login: { variables: [wires[options.wire].key], files: [] } }),
  hosts: ['api.openai.com:443', 'api.anthropic.com:443'],
  codePaths,
  instructionFiles: ({ repositoryInstructions }) => ({ isWanted: repositoryInstructions, given: instructionFiles }),
  repositoryFeatures,
  ownTools,
  tried,
  install,
  probe: async (...asked) => (await probing()).probeOpencode(...asked),
  command: opencodeCommand,
  async open(child, spec) {
    if (chooseTransport(spec) === 'run') return (await running()).openRun(child)
    const [{ openAcp }, { habitsFor }] = await Promise.all([import('../acp/conversation.ts'), import('./habits.ts')])
    return openAcp(child, spec, habitsFor(spec))
  },
}
