/** A line of a difference, as it is shown. */
export interface DiffLine {
  readonly kind: 'added' | 'removed' | 'same' | 'part' | 'note'
  readonly text: string
  /** Its number before and after. */
  readonly old?: number | undefined
  readonly now?: number | undefined
}

/** Two lines that stand side by side; either may be missing. What is neither old nor new goes over both. */
export type DiffPair = { readonly left: DiffLine | undefined; readonly right: DiffLine | undefined } | { readonly both: DiffLine }

/** What git wrote of one file. Its head is left out but for what no list of files says. */
export function readDiff(patch: string): DiffLine[] {
  const lines: DiffLine[] = []
  let [old, now] = [0, 0]
  let isInside = false
  for (const line of patch.replace(/\n$/, '').split('\n')) {
    const part = /^@@ -(\d+)(?:,\d+)? \+(\d+)(?:,\d+)? @@(.*)$/.exec(line)
    if (line.startsWith('diff --git ')) isInside = false
    else if (part) {
      isInside = true
      old = Number(part[1])
      now = Number(part[2])
      lines.push({ kind: 'part', text: `Line ${now === 0 ? old : now}${part[3] ? ` · ${part[3].trim()}` : ''}` })
    } else if (!isInside) {
      if (worthTelling.test(line)) lines.push({ kind: 'note', text: line })
    } else if (line.startsWith('+')) lines.push({ kind: 'added', text: line.slice(1), now: now++ })
    else if (line.startsWith('-')) lines.push({ kind: 'removed', text: line.slice(1), old: old++ })
    else if (line.startsWith('\\')) lines.push({ kind: 'note', text: line.slice(2) })
    else lines.push({ kind: 'same', text: line.slice(1), old: old++, now: now++ })
  }
  return withLineEnds(lines)
}

/** Where all lines end as those of Windows do, that is no news. Where some do, it is what was changed, and is shown. */
function withLineEnds(lines: DiffLine[]): DiffLine[] {
  const isText = ({ kind }: DiffLine) => kind === 'added' || kind === 'removed' || kind === 'same'
  if (!lines.every((line) => !isText(line) || line.text.endsWith('\r'))) return lines
  return lines.map((line) => (isText(line) ? { ...line, text: line.text.slice(0, -1) } : line))
}

const worthTelling = /^(?:old mode|new mode|Binary files)/

/** What was removed stands beside what was added in its place. */
export function besides(lines: readonly DiffLine[]): DiffPair[] {
  const pairs: DiffPair[] = []
  let [removed, added]: [DiffLine[], DiffLine[]] = [[], []]
  const put = () => {
    for (let at = 0; at < Math.max(removed.length, added.length); at++) pairs.push({ left: removed[at], right: added[at] })
    removed = []
    added = []
  }
  for (const line of lines) {
    if (line.kind === 'removed') {
      if (added.length > 0) put()
      removed.push(line)
    } else if (line.kind === 'added') added.push(line)
    else {
      put()
      pairs.push(line.kind === 'same' ? { left: line, right: line } : { both: line })
    }
  }
  put()
  return pairs
}
