import { PawlError } from '../../domain/error.ts'
import { isBinary } from '../base/answer-text.ts'
import { textOfMarkup } from './markup.ts'
import { type Archive, openArchive } from './zip.ts'

/** The text of a document by how its name ends, or undefined if that is not known. */
export async function textOfDocument(bytes: Buffer, ending: string): Promise<string | undefined> {
  const office = packed[ending]
  if (office) return office(openArchive(bytes))
  const plain = texts[ending]
  if (!plain) return undefined
  if (isBinary(bytes)) throw new PawlError('unsupported', `The document is no text, although its name ends with .${ending}.`)
  return plain(bytes.toString('utf8').replace(/^\ufeff/, ''))
}

const asIs = (text: string) => text
const texts: Record<string, (text: string) => string> = {
  ...Object.fromEntries(
    ['txt', 'md', 'markdown', 'rst', 'csv', 'tsv', 'json', 'jsonl', 'yaml', 'yml', 'toml', 'log'].map((end) => [end, asIs]),
  ),
  html: (text) => textOfMarkup(text),
  htm: (text) => textOfMarkup(text),
  xml: (text) => textOfMarkup(text, { breaks: new Set() }),
  ipynb: textOfNotebook,
}

const packed: Record<string, (archive: Archive) => Promise<string>> = {
  docx: (archive) =>
    parts(archive, /^word\/(document|footnotes|endnotes)\.xml$/, {
      breaks: new Set(['w:p', 'w:br', 'w:tr']),
      tabs: new Set(['w:tab', 'w:tc']),
    }),
  odt: (archive) => parts(archive, /^content\.xml$/, odf),
  ods: (archive) => parts(archive, /^content\.xml$/, odf),
  odp: (archive) => parts(archive, /^content\.xml$/, odf),
  pptx: (archive) => parts(archive, /^ppt\/slides\/slide\d+\.xml$/, { breaks: new Set(['a:p', 'a:br']) }),
}
const odf = {
  breaks: new Set(['text:p', 'text:h', 'table:table-row', 'text:line-break']),
  tabs: new Set(['text:tab', 'table:table-cell']),
}

export const documentEndings = [...Object.keys(texts), ...Object.keys(packed)]

async function parts(archive: Archive, wanted: RegExp, how: Parameters<typeof textOfMarkup>[1]): Promise<string> {
  const names = archive.names.filter((name) => wanted.test(name)).toSorted((a, b) => a.localeCompare(b, 'en', { numeric: true }))
  if (names.length === 0) throw new PawlError('unsupported', 'The document cannot be read: the part with its text is missing.')
  const found: string[] = []
  for (const name of names) {
    const text = textOfMarkup((await archive.read(name))!.toString('utf8'), how)
    found.push(names.length > 1 ? `[${name}]\n${text}` : text)
  }
  return found.join('\n\n')
}

function textOfNotebook(text: string): string {
  let cells: unknown
  try {
    cells = (JSON.parse(text) as { cells?: unknown } | null)?.cells
  } catch (error) {
    if (!(error instanceof SyntaxError)) throw error
  }
  if (!Array.isArray(cells)) throw new PawlError('unsupported', 'The notebook cannot be read: it holds no cells.')
  return cells
    .map(
      (cell: Cell | null, index) =>
        `[${index + 1}: ${String(cell?.cell_type ?? 'unknown')}]\n${joined(cell?.source)}${outputs(cell)}`,
    )
    .join('\n\n')
}

interface Cell {
  readonly cell_type?: unknown
  readonly source?: unknown
  readonly outputs?: unknown
}

function outputs(cell: Cell | null): string {
  if (!Array.isArray(cell?.outputs)) return ''
  const texts = cell.outputs
    .map((output: { text?: unknown; data?: Record<string, unknown> } | null) =>
      joined(output?.text ?? output?.data?.['text/plain']),
    )
    .filter((text) => text !== '')
  return texts.length > 0 ? `\n[output]\n${texts.join('\n')}` : ''
}

const joined = (source: unknown) => (Array.isArray(source) ? source.join('') : typeof source === 'string' ? source : '')
