/** A value as a person writes it: text as it is, everything else as JSON. */
export const writtenValue = (value: unknown): string =>
  value === null || value === undefined ? 'unset' : typeof value === 'string' ? value : JSON.stringify(value)

/** The other way round. What is no JSON is text: 30m, guarded. */
export function readValue(text: string): unknown {
  try {
    return JSON.parse(text)
  } catch {
    // Most settings are words.
    return text.trim()
  }
}
