import { innerSecrets } from './inner.ts'
import { shortest } from './search.ts'

/** Shorter values would be found all over in what is no secret. */
export const minSecretLength = shortest
/** One line of a secret of many lines must be longer than that to count alone: `"type": "account",` is nobody's secret. */
const minLineLength = 20
/** Lines are looked for one by one, so that part of a key file is found too; one of more lines than that is looked for as a whole. */
const maxLines = 100
/** Encoded in pieces: part of a long secret is found too. */
const pieceBytes = 4_096
/** As programs break what they encode: base64 by its own standard, and as keys are written. */
const wrapWidths = [76, 64]
/** The end of such a text, on a line of its own: the longer the shortest text that is looked for, the quicker all are found. */
const minWrapped = 16

/** A secret as it may stand in text: as it is, and as the usual ways of writing it down make it. Each at least as long as the shortest secret. */
export function formsOf(secret: string): string[] {
  const wholes = [secret, ...innerSecrets(secret)]
  const forms = wholes.flatMap((whole) => {
    const texts = [whole, ...linesOf(whole)]
    return [...texts.flatMap(written), ...texts.flatMap(encoded), ...wrapped(whole), ...texts.flatMap(reversed), inUtf16(whole)]
  })
  return [...new Set(forms)].filter((form) => form.length >= minSecretLength)
}

function linesOf(text: string): string[] {
  const lines = text.split(/\r?\n/)
  if (lines.length === 1 || lines.length > maxLines) return []
  return lines.map((line) => line.trim()).filter((line) => line.length >= minLineLength)
}

/** The signs that nothing here writes otherwise; tokens have no others. */
const plain = /^[\w.~-]*$/

function written(text: string): string[] {
  if (plain.test(text)) return [text]
  const quoted = inJson(text)
  const ascii = inAsciiJson(quoted)
  const percent = encodeURIComponent(text.toWellFormed())
  const strict = percent.replace(/[!'()*]/g, (sign) => `%${sign.charCodeAt(0).toString(16).toUpperCase()}`)
  const lowerCase = (address: string) => address.replace(/%[0-9A-F]{2}/g, (sign) => sign.toLowerCase())
  return [
    text,
    quoted,
    // JSON inside a string of JSON, as tools pass their input on.
    inJson(quoted),
    ascii,
    inJson(ascii),
    ascii.replace(/\\u[0-9a-f]{4}/g, (sign) => `\\u${sign.slice(2).toUpperCase()}`),
    quoted.replaceAll('/', '\\/'),
    ...[percent, strict].flatMap((address) => [address, lowerCase(address), address.replaceAll('%20', '+')]),
  ]
}

function encoded(text: string): string[] {
  const bytes = Buffer.from(text)
  const pieces = Array.from({ length: Math.ceil(bytes.length / pieceBytes) }, (_, index) =>
    // The last piece begins earlier rather than be too short to look for.
    bytes.subarray(Math.max(0, Math.min(index * pieceBytes, bytes.length - minSecretLength)), (index + 1) * pieceBytes),
  )
  return pieces.flatMap((piece) => {
    const hexadecimal = piece.toString('hex')
    return [hexadecimal, hexadecimal.toUpperCase(), ...inBase64(piece)]
  })
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

const inAsciiJson = (quoted: string) =>
  quoted.replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** What stands before a secret shifts its base64; the signs at both ends that depend on the neighbours are left off. */
function inBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const whole = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const certain = whole.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))
    return [certain, urlSafe(certain)]
  })
}
const urlSafe = (base64: string) => base64.replaceAll('+', '-').replaceAll('/', '_')

/** Line by line, for readers who get one at a time; lines that come together are found by `findWrapped`. */
function wrapped(text: string): string[] {
  const bytes = Buffer.from(text)
  if (bytes.length > pieceBytes) return []
  // A newline that was encoded with it changes the last signs.
  const whole = bytes.toString('base64').slice(0, Math.floor((bytes.length * 4) / 3))
  return wrapWidths
    .filter((width) => whole.length > width)
    .flatMap((width) => whole.match(new RegExp(`.{1,${width}}`, 'g')) ?? [])
    .filter((line) => line.length >= minWrapped)
}

function reversed(text: string): string[] {
  const backwards = [...text].reverse().join('')
  return [backwards, inJson(backwards)]
}

/** From the first sign to the last, without the zero before or after: so either order of the bytes is found, where the signs are ASCII. */
const inUtf16 = (text: string) => (text.length > pieceBytes ? '' : [...text].join('\0'))
