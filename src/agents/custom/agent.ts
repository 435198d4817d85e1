import { type Ability, type Adapter, canOnly } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { modelUse } from '../shared/model-uses.ts'
import { sessionFilesOf } from '../shared/program-sessions.ts'
import { customCommand } from './command.ts'
import { CustomOptions } from './options.ts'

const probing = loaded(() => import('./probe.ts'))
const turning = loaded(() => import('./turn.ts'))

/** Any command as an agent: one process per prompt. What it can do beyond that is what its options say. */
export const custom: Adapter<CustomOptions> = {
  name: 'custom',
  title: 'Any command',
  options: CustomOptions,
  can: canOnly('model', 'systemPrompt', 'usage'),
  models: modelUse,
  suited: (options) => ({
    ...custom,
    can: canOnly('usage', ...abilitiesOf(options)),
    sessions: sessionFilesOf(options),
    login: options.keys.length > 0 ? { variables: options.keys, files: [] } : undefined,
    hosts: options.hosts,
    install: options.install,
  }),
  probe: async (...asked) => (await probing()).probeCommand(...asked),
  command: customCommand,
  async open(child, spec) {
    const { runTurn } = await turning()
    return {
      turn: (turn) => runTurn(child, spec, turn),
      async close() {
        child.stdin.destroy()
      },
    }
  },
}

const abilitiesOf = (options: CustomOptions): Ability[] => [
  ...(options.resume ? (['resume'] as const) : []),
  ...(options.modelFlag || options.modelArg || options.modelVariable || options.wire ? (['model'] as const) : []),
  ...(options.systemPromptFlag || options.systemPromptVia ? (['systemPrompt'] as const) : []),
  ...(options.mcp ? (['mcp'] as const) : []),
]
