/** What an agent says of its own work, in a block of `key: value` lines between two lines of dashes at the beginning or the end of its last text. */
export interface AgentHeader {
  /** Undefined if it does not say, or says something that is not one of the three. */
  readonly status: 'complete' | 'partial' | 'failed' | undefined
  /** Keys in small letters; what stands for nothing is left out. */
  readonly fields: Readonly<Record<string, string>>
  /** The text without the block. */
  readonly rest: string
}

/** Undefined if the text has none. */
export function readHeader(text: string): AgentHeader | undefined {
  const lines = text.trim().split(/\r?\n/)
  const found = atStart(lines) ?? atEnd(lines)
  if (!found) return undefined
  const fields = fieldsOf(found.block)
  if (!fields) return undefined
  return { status: statusOf(fields.request_status), fields, rest: found.rest.join('\n').trim() }
}

/** The agent may say that it did less than it seems, never that it did more. Undefined if it leaves the outcome as it is. */
export function loweredBy(header: AgentHeader | undefined): { outcome: 'partial' | 'failed'; message: string } | undefined {
  if (header?.status === 'partial')
    return { outcome: 'partial', message: whyOf(header) ?? 'The agent says that it did only a part of the work.' }
  if (header?.status === 'failed')
    return { outcome: 'failed', message: whyOf(header) ?? 'The agent says that it could not do the work.' }
  return undefined
}

const whyOf = ({ fields }: AgentHeader) => {
  const why = fields.error ?? fields.reason ?? fields.comments ?? fields.comment
  return why === undefined ? undefined : `The agent says: ${why.slice(0, 1_000)}`
}

interface Found {
  readonly block: readonly string[]
  readonly rest: readonly string[]
}

/** A block of more lines is text with rules in it. */
const mostLines = 50
const isRule = (line: string | undefined) => line !== undefined && /^-{3,}\s*$/.test(line)

function atStart(lines: readonly string[]): Found | undefined {
  if (!isRule(lines[0])) return undefined
  const end = lines.findIndex((line, i) => i > 0 && isRule(line))
  return end > 1 && end <= mostLines ? { block: lines.slice(1, end), rest: lines.slice(end + 1) } : undefined
}

function atEnd(lines: readonly string[]): Found | undefined {
  if (!isRule(lines.at(-1))) return undefined
  const begin = lines.slice(0, -1).findLastIndex(isRule)
  const block = lines.slice(begin + 1, -1)
  return begin >= 0 && block.length > 0 && block.length <= mostLines ? { block, rest: lines.slice(0, begin) } : undefined
}

/** Undefined if a line of it is not of the form: then it is prose between two rules. */
function fieldsOf(block: readonly string[]): Record<string, string> | undefined {
  const fields = new Map<string, string>()
  let last: string | undefined
  for (const line of block) {
    if (line.trim() === '') continue
    // Without the space at both ends: two patterns for space, one after the other, take seconds for a line of 10,000 blanks.
    const [, key, value = ''] = /^[-*]?\s*\**([A-Za-z][\w -]{0,63}?)\**\s*:\**(.*)$/.exec(line.trim()) ?? []
    if (key !== undefined) {
      last = key.toLowerCase().replaceAll(/[ -]+/g, '_')
      fields.set(last, value.trim())
    } else if (/^\s+\S/.test(line) && last !== undefined) fields.set(last, `${fields.get(last)} ${line.trim()}`.trim())
    else return undefined
  }
  const said = [...fields].map(([key, value]) => [key, unquoted(value)] as const).filter(([, value]) => !isPlaceholder(value))
  return fields.size === 0 ? undefined : Object.fromEntries(said)
}

const unquoted = (value: string) => /^(["'`])(.*)\1$/s.exec(value)?.[2]?.trim() ?? value
const placeholders: ReadonlySet<string> = new Set([
  '',
  'none',
  'n/a',
  'na',
  'nil',
  'null',
  'undefined',
  'no',
  'empty',
  '-',
  '--',
  '…',
  '...',
  '[]',
  '{}',
  'tbd',
])
const isPlaceholder = (value: string) => placeholders.has(value.toLowerCase().replace(/\.$/, '')) || /^[<[{].*[>\]}]$/.test(value)

function statusOf(written: string | undefined): AgentHeader['status'] {
  const status = written?.toLowerCase()
  return status === 'complete' || status === 'partial' || status === 'failed' ? status : undefined
}
