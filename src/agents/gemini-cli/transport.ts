import type { LaunchSpec } from '../port.ts'
import type { GeminiCliOptions } from './options.ts'

export type Transport = 'acp' | 'one-shot'

type Given = Pick<LaunchSpec<GeminiCliOptions>, 'options' | 'resume'>

/** Loading a conversation by ACP destroys it as of 0.61: one whose process is gone is only ever gone on with by the command line. */
export const chooseTransport = ({ options, resume }: Given): Transport =>
  options.transport === 'one-shot' || resume !== undefined ? 'one-shot' : 'acp'
