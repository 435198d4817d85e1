import { gunzipSync, zstdDecompressSync } from 'node:zlib'

/** A value that must not be found anywhere, under the name by which a find is told. */
export interface Canary {
  readonly name: string
  readonly value: string
}

/**
 * Every canary that a text or file holds, in any of the forms it may be written in, as `name (form) in place`. Written apart from what it tests: the forms that
 * Pawl knows are not asked for.
 */
export function scan(place: string, content: string | Buffer, canaries: readonly Canary[]): string[] {
  const opened = [Buffer.from(content), ...unpacked(Buffer.from(content))]
  return opened.flatMap((bytes) => {
    const text = bytes.toString('latin1')
    // Line breaks part what is encoded; a terminal and JSON write them in their own ways.
    const joined = text.replaceAll(/(?:\r?\n|(?:\\+r)?\\+n)[ \t]*/g, '')
    return canaries.flatMap(({ name, value }) =>
      Object.entries(formsOf(value))
        .filter(([, forms]) => forms.some((form) => text.includes(form) || (joined !== text && joined.includes(form))))
        .map(([form]) => `${name} (${form}) in ${place}`),
    )
  })
}

const latin1 = (text: string) => Buffer.from(text).toString('latin1')

const known = new Map<string, Record<string, string[]>>()

/** The forms of a value, made once: they are looked for in hundreds of places. */
function formsOf(value: string): Record<string, string[]> {
  let forms = known.get(value)
  if (!forms) {
    forms = makeForms(value)
    known.set(value, forms)
  }
  return forms
}

/** As bytes. Of base64 only the signs that do not depend on the neighbours; of many lines each long one counts. */
function makeForms(value: string): Record<string, string[]> {
  const parts = [value, ...value.split('\n').filter((line) => line.length >= 20 && line !== value)]
  const of = (write: (text: string) => string[]) => parts.flatMap(write).map(latin1)
  const json = (text: string) => JSON.stringify(text).slice(1, -1)
  return {
    raw: of((text) => [text]),
    json: of((text) => [json(text), json(json(text)), json(text).replace(/[^\0-\x7f]/g, escaped)]),
    percent: of((text) => [encodeURIComponent(text), encodeURIComponent(text).replace(/%../g, (sign) => sign.toLowerCase())]),
    hex: of((text) => [Buffer.from(text).toString('hex'), Buffer.from(text).toString('hex').toUpperCase()]),
    base64: of((text) => [0, 1, 2].map((before) => shifted(text, before, 'base64'))),
    base64url: of((text) => [0, 1, 2].map((before) => shifted(text, before, 'base64url'))),
    'utf-16': parts.map((text) => Buffer.from(text, 'utf16le').toString('latin1')),
    reversed: of((text) => [[...text].reverse().join('')]),
  }
}

const escaped = (sign: string) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`

function shifted(text: string, before: number, how: 'base64' | 'base64url'): string {
  const bytes = Buffer.concat([Buffer.alloc(before), Buffer.from(text)])
  return bytes.toString(how).slice(Math.ceil((before * 4) / 3), Math.floor((bytes.length * 4) / 3))
}

/** What is packed inside, wherever it begins. */
function unpacked(bytes: Buffer): Buffer[] {
  const packers = [
    { magic: Buffer.from([0x1f, 0x8b, 0x08]), open: gunzipSync },
    { magic: Buffer.from([0x28, 0xb5, 0x2f, 0xfd]), open: zstdDecompressSync },
  ]
  return packers.flatMap(({ magic, open }) => {
    const found: Buffer[] = []
    for (let at = bytes.indexOf(magic); at !== -1; at = bytes.indexOf(magic, at + 1)) {
      try {
        found.push(open(bytes.subarray(at)))
      } catch {
        // Only looks like it.
      }
    }
    return found
  })
}
