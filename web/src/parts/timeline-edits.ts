/** A line of a diff; `gap` stands for lines that are the same in both. */
export interface DiffLine {
  readonly sign: '+' | '-' | ' ' | 'gap'
  readonly text: string
}
export interface Edit {
  readonly path: string
  readonly lines: readonly DiffLine[]
}

type Fields = Readonly<Record<string, unknown>>

/** What a call of a tool changes in files, if it says so; known by the fields that such tools take, whoever brings them. */
export function editsOf(tool: string, input: unknown): readonly Edit[] {
  const fields = fieldsOf(input)
  if (!fields) return []
  const path = textIn(fields, 'file_path', 'filePath', 'path', 'notebook_path', 'absolute_path', 'file') ?? ''
  const changes = changesIn(fields.changes)
  if (changes.length > 0) return changes
  const patch = textIn(fields, 'patch', 'patchText', 'diff', 'input')
  if (patch !== undefined && /^(?:\*\*\* Begin Patch|--- |diff --git|@@ )/m.test(patch)) return [{ path, lines: unified(patch) }]
  const pieces = Array.isArray(fields.edits) ? fields.edits.map(fieldsOf) : [fields]
  const lines = pieces.flatMap((piece, n) => {
    const one = piece && replaced(piece)
    return one ? [...(n > 0 ? [{ sign: 'gap' as const, text: '' }] : []), ...one] : []
  })
  if (lines.length > 0) return [{ path, lines }]
  const content = textIn(fields, 'content', 'file_text', 'new_source')
  if (content !== undefined && path !== '' && /write|create|notebook/i.test(tool)) return [{ path, lines: diffOf('', content) }]
  return []
}

function replaced(fields: Fields): readonly DiffLine[] | undefined {
  const before = textIn(fields, 'old_string', 'oldString', 'old_str', 'oldText')
  const after = textIn(fields, 'new_string', 'newString', 'new_str', 'newText')
  return after === undefined || before === undefined ? undefined : diffOf(before, after)
}

function changesIn(changes: unknown): readonly Edit[] {
  if (!Array.isArray(changes)) return []
  return changes.map(fieldsOf).flatMap((change) => {
    const path = change && textIn(change, 'path')
    const diff = change && textIn(change, 'diff', 'unified_diff')
    if (change === undefined || path === undefined || diff === undefined) return []
    const isDiff = /^@@ /m.test(diff)
    return [{ path, lines: isDiff ? unified(diff) : diffOf('', diff) }]
  })
}

function unified(text: string): DiffLine[] {
  return text
    .replace(/\n$/, '')
    .split('\n')
    .map((line) => {
      if (/^(?:@@|\*\*\*|diff |index |--- |\+\+\+ )/.test(line)) return { sign: 'gap', text: line }
      const sign = line[0] === '+' || line[0] === '-' ? line[0] : ' '
      return { sign, text: line.slice(1) }
    })
}

/** More lines than this are not compared with each other: what is long and different is shown as taken out and put in. */
const mostCompared = 400
const contextLines = 3

/** The lines of two texts, as taken out and put in. */
export function diffOf(before: string, after: string): DiffLine[] {
  const [old, now] = [linesOf(before), linesOf(after)]
  let head = 0
  while (head < old.length && head < now.length && old[head] === now[head]) head++
  let tail = 0
  while (tail < old.length - head && tail < now.length - head && old.at(-1 - tail) === now.at(-1 - tail)) tail++
  const same = (lines: readonly string[]) => lines.map((text) => ({ sign: ' ' as const, text }))
  const above = old.slice(Math.max(0, head - contextLines), head)
  const below = old.slice(old.length - tail, old.length - tail + contextLines)
  return [
    ...(head > contextLines ? [gap(head - contextLines)] : []),
    ...same(above),
    ...compared(old.slice(head, old.length - tail), now.slice(head, now.length - tail)),
    ...same(below),
    ...(tail > contextLines ? [gap(tail - contextLines)] : []),
  ]
}

const gap = (count: number): DiffLine => ({ sign: 'gap', text: `${count} ${count === 1 ? 'line' : 'lines'} unchanged` })

function compared(old: readonly string[], now: readonly string[]): DiffLine[] {
  const out = (text: string): DiffLine => ({ sign: '-', text })
  const put = (text: string): DiffLine => ({ sign: '+', text })
  if (old.length > mostCompared || now.length > mostCompared) return [...old.map(out), ...now.map(put)]
  // How many lines the rests of both have in common, from each pair of places on.
  const width = now.length + 1
  const common = new Uint16Array((old.length + 1) * width)
  for (let i = old.length - 1; i >= 0; i--) {
    for (let j = now.length - 1; j >= 0; j--) {
      const here = i * width + j
      common[here] = old[i] === now[j] ? common[here + width + 1]! + 1 : Math.max(common[here + width]!, common[here + 1]!)
    }
  }
  const lines: DiffLine[] = []
  for (let [i, j] = [0, 0]; i < old.length || j < now.length; ) {
    if (i < old.length && j < now.length && old[i] === now[j]) {
      lines.push({ sign: ' ', text: old[i]! })
      i++
      j++
    } else if (j >= now.length || (i < old.length && common[(i + 1) * width + j]! >= common[i * width + j + 1]!))
      lines.push(out(old[i++]!))
    else lines.push(put(now[j++]!))
  }
  return lines
}

const linesOf = (text: string) => (text === '' ? [] : text.replace(/\n$/, '').split('\n'))
const textIn = (fields: Fields, ...names: string[]) =>
  names.map((name) => fields[name]).find((value): value is string => typeof value === 'string')
const fieldsOf = (value: unknown): Fields | undefined =>
  typeof value === 'object' && value !== null && !Array.isArray(value) ? (value as Fields) : undefined
