/** The oldest version whose protocol this adapter speaks. */
export const oldestVersion = '2.0.0'

/** `to` is the version that test/real-agents installs. */
export const tried = { from: oldestVersion, to: '2.1.325' }

export const install = 'npm install -g @anthropic-ai/claude-code'

/** The first version in which each flag was seen; those that are older than `oldestVersion` are not listed. */
const since = {
  '--max-budget-usd': '2.0.30',
  '--plugin-dir': '2.0.60',
  '--tools': '2.0.60',
  '--disable-slash-commands': '2.0.60',
  '--append-system-prompt-file': '2.0.61',
  '--json-schema': '2.0.61',
  '--system-prompt-snapshot': '2.1.267',
} as const

/** A version that could not be found out is taken for a current one. */
export const knows = (version: string | undefined, flag: keyof typeof since) =>
  version === undefined || isAtLeast(version, since[flag])

export function isAtLeast(version: string, wanted: string): boolean {
  const [is, must] = [version, wanted].map((text) => text.split('.').map(Number))
  for (const place of [0, 1, 2]) {
    const difference = (is?.[place] ?? 0) - (must?.[place] ?? 0)
    if (difference !== 0) return difference > 0
  }
  return true
}

/** `2.1.325 (Claude Code)` */
export const parseVersion = (printed: string) => /^(\d+\.\d+\.\d+)\b/.exec(printed)?.[1]
