import type { LaunchSpec } from '../port.ts'
import type { CodexOptions } from './options.ts'

export type Transport = 'app-server' | 'exec'

/** Both tried down to these versions; before them requests, or the lines of `exec --json`, have another form. */
const firstAppServer = [0, 80, 0] as const
const firstExec = [0, 63, 0] as const

/** `to` is the version that test/real-agents installs. */
export const tried = { from: firstExec.join('.'), to: '0.166.0' }

export const install = 'npm install -g @openai/codex'

export function chooseTransport({ options, version }: Pick<LaunchSpec<CodexOptions>, 'options' | 'version'>): Transport {
  if (options.transport !== 'auto') return options.transport
  return version === undefined || isAtLeast(version, firstAppServer) ? 'app-server' : 'exec'
}

export const oldestVersion = (transport: CodexOptions['transport']) =>
  (transport === 'app-server' ? firstAppServer : firstExec).join('.')

export const isTooOld = (version: string, transport: CodexOptions['transport']) =>
  !isAtLeast(version, transport === 'app-server' ? firstAppServer : firstExec)

/** A version that cannot be read is taken for a new one. */
export function isAtLeast(version: string, wanted: readonly [number, number, number]): boolean {
  const found = versionNumbers.exec(version)?.slice(1).map(Number)
  if (!found) return true
  const different = wanted.findIndex((number, index) => found[index] !== number)
  return different === -1 || (found[different] ?? 0) > (wanted[different] ?? 0)
}

const versionNumbers = /(\d{1,9})\.(\d{1,9})\.(\d{1,9})/
