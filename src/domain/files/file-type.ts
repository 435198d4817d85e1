/** What is in a file, by how it begins and, where that says nothing, by its name. What somebody claims of it is not asked. */
export function fileTypeOf(name: string, head: Uint8Array): string {
  const known = magic.find(({ at = 0, bytes }) => bytes.every((byte, i) => byte === null || head[at + i] === byte))
  if (known) return known.type
  const ending = /\.([a-z0-9]+)$/i.exec(name)?.[1]?.toLowerCase() ?? ''
  const type = Object.hasOwn(byEnding, ending) ? byEnding[ending] : undefined
  if (head.includes(0)) return 'application/octet-stream'
  return type ?? (isText(head) ? 'text/plain' : 'application/octet-stream')
}

/** Images that models take beside text. */
export const isImage = (type: string): boolean => images.has(type)
const images = new Set(['image/png', 'image/jpeg', 'image/gif', 'image/webp'])

/** Programs of a machine are nothing that an agent has to read, and nothing to hand on. */
export const isProgram = (type: string): boolean => programs.has(type)
const programs = new Set(['application/x-executable', 'application/x-msdownload', 'application/x-mach-binary'])

/** The type that a file is given out with: nothing that a browser would run. */
export function servedType(type: string): string {
  if (isImage(type) || type === 'application/pdf' || type === 'application/json') return type
  return type.startsWith('text/') ? 'text/plain; charset=utf-8' : 'application/octet-stream'
}

const ascii = (text: string) => [...text].map((sign) => sign.charCodeAt(0))
const magic: readonly { readonly type: string; readonly at?: number; readonly bytes: readonly (number | null)[] }[] = [
  { type: 'image/png', bytes: [0x89, ...ascii('PNG\r\n\x1a\n')] },
  { type: 'image/jpeg', bytes: [0xff, 0xd8, 0xff] },
  { type: 'image/gif', bytes: ascii('GIF8') },
  { type: 'image/webp', bytes: [...ascii('RIFF'), null, null, null, null, ...ascii('WEBP')] },
  { type: 'application/pdf', bytes: ascii('%PDF-') },
  { type: 'application/zip', bytes: [...ascii('PK'), 3, 4] },
  { type: 'application/gzip', bytes: [0x1f, 0x8b] },
  { type: 'application/x-executable', bytes: [0x7f, ...ascii('ELF')] },
  { type: 'application/x-msdownload', bytes: [...ascii('MZ'), null, null, null, 0] },
  { type: 'application/x-mach-binary', bytes: [0xcf, 0xfa, 0xed, 0xfe] },
  { type: 'application/x-mach-binary', bytes: [0xca, 0xfe, 0xba, 0xbe] },
]

const byEnding: Readonly<Record<string, string>> = {
  md: 'text/markdown',
  csv: 'text/csv',
  json: 'application/json',
  html: 'text/html',
  htm: 'text/html',
  xml: 'text/xml',
  svg: 'image/svg+xml',
  yaml: 'text/yaml',
  yml: 'text/yaml',
}

/** Cut anywhere, so a sign at the end may be half. */
function isText(head: Uint8Array): boolean {
  const text = new TextDecoder().decode(head, { stream: true })
  return !text.includes('\ufffd')
}
