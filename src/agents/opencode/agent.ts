import { type Adapter, canOnly } from '../../agent.ts'
import { openAcp } from '../acp/conversation.ts'
import { codePaths } from './code-paths.ts'
import { opencodeCommand } from './command.ts'
import { habitsFor } from './habits.ts'
import { OpencodeOptions } from './options.ts'
import { ownTools } from './permissions.ts'
import { probeOpencode } from './probe.ts'
import { openRun } from './run.ts'
import { sessionFiles } from './session-files.ts'
import { wires } from './settings.ts'
import { chooseTransport, install, tried } from './versions.ts'

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
  ownTools,
  tried,
  install,
  probe: probeOpencode,
  command: opencodeCommand,
  open: (child, spec) => (chooseTransport(spec) === 'run' ? openRun(child) : openAcp(child, spec, habitsFor(spec))),
}
