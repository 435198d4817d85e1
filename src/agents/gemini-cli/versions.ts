import type { TriedVersions } from '../port.ts'

export const tried: TriedVersions = { from: '0.61.0', to: '0.61.0' }
export const install = 'npm install -g @google/gemini-cli'

/** `0.61.0`, or a preview of it. */
export const parseVersion = (printed: string) => /^v?(\d+\.\d+\.\d+\S*)/.exec(printed.trim())?.[1]
