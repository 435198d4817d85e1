import type { LaunchSpec } from '../port.ts'
import type { OpencodeOptions } from './options.ts'

export type Transport = 'acp' | 'run'

/** Before it a conversation could not be gone on with by the protocol, and was kept in many files. */
const firstAcp = [1, 18, 0] as const

/** The version that test/real-agents installs; no other was tried. */
export const tried = { from: '1.18.33', to: '1.18.33' }
export const install = 'npm install -g opencode-ai'
export const oldestVersion = firstAcp.join('.')

export function chooseTransport({ options, version }: Pick<LaunchSpec<OpencodeOptions>, 'options' | 'version'>): Transport {
  if (options.transport !== 'auto') return options.transport
  return version === undefined || !isTooOld(version) ? 'acp' : 'run'
}

/** A version that cannot be read is taken for a new one. */
export function isTooOld(version: string): boolean {
  const found = /(\d{1,9})\.(\d{1,9})\.(\d{1,9})/.exec(version)?.slice(1).map(Number)
  if (!found) return false
  const different = firstAcp.findIndex((number, index) => found[index] !== number)
  return different !== -1 && (found[different] ?? 0) < (firstAcp[different] ?? 0)
}
