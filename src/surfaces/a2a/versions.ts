import { VersionNotSupportedError } from '@a2a-js/sdk/errors'

/** What is spoken, the preferred first; only the minor version counts. */
export const versions = { JSONRPC: ['1.0', '0.3'], 'HTTP+JSON': ['1.0'] } as const
export type Binding = keyof typeof versions

export function assertVersion(asked: string, binding: Binding): void {
  const minor = /^\d+\.\d+/.exec(asked)?.[0]
  if (!(versions[binding] as readonly (string | undefined)[]).includes(minor))
    throw new VersionNotSupportedError(
      `Version "${asked.slice(0, 20)}" of A2A is not spoken here; ${versions[binding].join(' and ')} ${versions[binding].length > 1 ? 'are' : 'is'}.`,
    )
}
