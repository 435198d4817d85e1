import { type Adapter, canOnly } from '../port.ts'
import { loaded } from '../shared/loaded.ts'
import { leftElsewhere } from './bookmark.ts'
import { a2aCommand, keyVariable } from './command.ts'
import { A2aOptions, rulesOf } from './options.ts'

const probing = loaded(() => import('./probe.ts'))
const recalling = loaded(() => import('./recall.ts'))
const conversing = loaded(() => import('./conversation.ts'))

/** An agent on another machine that speaks the Agent2Agent protocol; a small client of our own runs inside the walls in its place. */
export const a2a: Adapter<A2aOptions> = {
  name: 'a2a',
  title: 'Remote A2A agent',
  options: A2aOptions,
  isOurs: true,
  isElsewhere: true,
  can: canOnly('resume', 'askQuestion'),
  login: { variables: [keyVariable], files: [] },
  suited: (options) => ({ ...a2a, hosts: rulesOf(options) }),
  probe: async (...asked) => (await probing()).probeRemote(...asked),
  command: a2aCommand,
  recall: { left: leftElsewhere, end: async (...given) => (await recalling()).recall(...given) },
  open: async (...given) => (await conversing()).openClient(...given),
}
