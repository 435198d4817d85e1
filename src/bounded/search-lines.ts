import type { Found, Searched } from './jobs.ts'
import type { Regex } from './regex.ts'

const longestLine = 500

export function searchLines(regex: Regex, { bytes, most, before, after }: Searched): Found {
  const lines = Buffer.from(bytes).toString('utf8').split('\n')
  // What comes after the last end of line is no line.
  if (lines.at(-1) === '') lines.pop()
  let hits = 0
  const shown = new Map<number, boolean>()
  for (const [index, line] of lines.entries()) {
    if (!regex.test(line.endsWith('\r') ? line.slice(0, -1) : line)) continue
    hits++
    if (shown.size > most) continue
    const last = Math.min(lines.length - 1, index + after)
    for (let n = Math.max(0, index - before); n <= last; n++) shown.set(n, shown.get(n) ?? false)
    shown.set(index, true)
  }
  const text = (line: string) => (line.length > longestLine ? `${line.slice(0, longestLine)}…` : line)
  return {
    hits,
    shown: [...shown]
      .toSorted(([a], [b]) => a - b)
      .map(([index, isHit]) => ({ number: index + 1, isHit, text: text(lines[index]!) })),
  }
}
