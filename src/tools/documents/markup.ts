/** The text of an HTML page or an XML document, in one pass. Scripts, styles and comments are left out. */
export function textOfMarkup(markup: string, { breaks = htmlBreaks, tabs = none }: MarkupOptions = {}): string {
  const parts: string[] = []
  let at = 0
  while (at < markup.length) {
    const open = markup.indexOf('<', at)
    if (open === -1) {
      parts.push(markup.slice(at))
      break
    }
    parts.push(markup.slice(at, open))
    if (markup.startsWith('<!--', open)) {
      at = after(markup, '-->', open)
      continue
    }
    const close = markup.indexOf('>', open)
    if (close === -1) break
    const name = /^<\/?([A-Za-z][A-Za-z0-9:-]{0,40})/.exec(markup.slice(open, open + 50))?.[1]?.toLowerCase() ?? ''
    if (breaks.has(name)) parts.push('\n')
    if (tabs.has(name)) parts.push('\t')
    at = close + 1
    if (skipped.has(name) && markup[open + 1] !== '/') at = afterElement(markup, name, at)
  }
  return tidied(decodeEntities(parts.join('')))
}

export interface MarkupOptions {
  readonly breaks?: ReadonlySet<string>
  readonly tabs?: ReadonlySet<string>
}

const none: ReadonlySet<string> = new Set()
const skipped = new Set(['script', 'style', 'template', 'noscript', 'svg'])
const htmlBreaks: ReadonlySet<string> = new Set([
  ...['p', 'div', 'br', 'hr', 'li', 'ul', 'ol', 'tr', 'table', 'section', 'article', 'header', 'footer', 'main', 'nav', 'pre'],
  ...['h1', 'h2', 'h3', 'h4', 'h5', 'h6', 'blockquote', 'dt', 'dd', 'title', 'form', 'figure', 'option'],
])

function after(text: string, mark: string, from: number): number {
  const at = text.indexOf(mark, from)
  return at === -1 ? text.length : at + mark.length
}

function afterElement(markup: string, name: string, from: number): number {
  for (let at = markup.indexOf('</', from); at !== -1; at = markup.indexOf('</', at + 2))
    if (markup.slice(at + 2, at + 2 + name.length).toLowerCase() === name) return after(markup, '>', at)
  return markup.length
}

const entities: Record<string, string> = {
  amp: '&',
  lt: '<',
  gt: '>',
  quot: '"',
  apos: "'",
  nbsp: ' ',
  copy: '©',
  hellip: '…',
  mdash: '—',
  ndash: '–',
}

function decodeEntities(text: string): string {
  return text.replace(/&(#x[0-9a-fA-F]{1,6}|#[0-9]{1,7}|[a-z]{2,8});/g, (whole, name: string) => {
    if (!name.startsWith('#')) return entities[name] ?? whole
    const point = name[1] === 'x' ? Number.parseInt(name.slice(2), 16) : Number(name.slice(1))
    return point > 0 && point <= 0x10ffff && !(point >= 0xd800 && point <= 0xdfff) ? String.fromCodePoint(point) : ''
  })
}

/** At most one empty line, no space at the ends of lines. */
function tidied(text: string): string {
  const lines: string[] = []
  for (const line of text.split('\n')) {
    const clean = line
      .replaceAll('\r', '')
      .split(/[ \f\v]+/)
      .join(' ')
      .trim()
    if (clean !== '' || (lines.length > 0 && lines.at(-1) !== '')) lines.push(clean)
  }
  return lines.join('\n').trim()
}
