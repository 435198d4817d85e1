import { compileRegex } from '../../bounded/regex.ts'

/** Together with the longest text: one match then takes 100 ms at the most. */
export const mostSteps = 250
const longestText = 8_192
const limitMs = 100

/** What a pattern of the settings finds in each of the texts, of long ones in their end: the match and its groups, or nothing. Undefined if that cannot be told in good time. */
export function matchesIn(source: string, texts: readonly string[]): readonly (readonly string[])[] | undefined {
  const regex = compilePattern(source)
  const endsAt = performance.now() + limitMs
  const found: (readonly string[])[] = []
  for (const text of texts) {
    if (performance.now() > endsAt) return undefined
    found.push(regex.exec(text.slice(-longestText)) ?? [])
  }
  return found
}

/** Regards letters without their case. Throws what to change if it cannot be used. */
export const compilePattern = (source: string) => compileRegex(source, { ignoreCase: true, most: mostSteps })
