import { type Ability, type Adapter, canOnly, type LaunchSpec } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { modelUse } from '../shared/model-uses.ts'
import { wordsOf } from '../shared/program-options.ts'
import { sessionFilesOf } from '../shared/program-sessions.ts'
import { acpCommand } from './command.ts'
import type { Habits } from './habits.ts'
import { AcpOptions } from './options.ts'

const probing = loaded(() => import('./probe.ts'))
const conversing = loaded(() => import('./conversation.ts'))

const abilities: readonly Ability[] = [
  'resume',
  'askPermission',
  'askQuestion',
  'warm',
  'usage',
  'mcp',
  'systemPrompt',
  'model',
  'images',
]

/** Any program that speaks the Agent Client Protocol, by its command line. What it can do it says itself when it is started. */
export const acp: Adapter<AcpOptions> = {
  name: 'acp',
  title: 'Any ACP program',
  options: AcpOptions,
  can: canOnly(...abilities),
  models: modelUse,
  suited: (options) => ({
    ...acp,
    sessions: sessionFilesOf(options),
    login: options.keys.length > 0 ? { variables: options.keys, files: [] } : undefined,
    hosts: options.hosts,
    install: options.install,
  }),
  probe: async (...asked) => (await probing()).probeAcp(...asked),
  command: acpCommand,
  open: async (child, spec) => (await conversing()).openAcp(child, spec, habitsOf(spec)),
}

/** What the settings say of a program about which nothing else is known. */
function habitsOf({ options, systemPrompt }: LaunchSpec<AcpOptions>): Habits {
  const { serve, systemPromptVia: via } = options
  return {
    title: wordsOf(options)[0],
    load: options.load,
    // Nobody knows of it, and one that has asked already is not waited for.
    connectsLate: true,
    authenticate: () => options.authMethod,
    mode: () => options.mode,
    model: (spec) => (options.modelFlag || options.modelVariable ? undefined : spec.model),
    meta: () => (via === 'meta' && systemPrompt !== undefined ? { systemPrompt: { append: systemPrompt } } : undefined),
    preface: () => (via === 'prefix' ? systemPrompt : undefined),
    attended: serve.length > 0 ? { files: serve.includes('files'), terminals: serve.includes('terminals') } : undefined,
  }
}
