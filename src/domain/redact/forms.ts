import { shortest } from './search.ts'

/** Shorter values would be found all over in what is no secret. */
export const minSecretLength = shortest
/** One line of a secret of many lines must be longer than that to count alone: `"type": "account",` is nobody's secret. */
const minLineLength = 20
/** Nobody writes a whole key file in hexadecimal on one line; long patterns make every end of a chunk slow to judge. */
const maxEncodedBytes = 512

/** A secret as it may stand in text: as it is, and as the usual ways of writing it down make it. Each at least as long as the shortest secret. */
export function formsOf(secret: string): string[] {
  const lines = secret.split(/\r?\n/)
  const wholes =
    lines.length > 1 ? [secret, ...lines.map((line) => line.trim()).filter((line) => line.length >= minLineLength)] : [secret]
  const forms = wholes.flatMap((text) => {
    const quoted = inJson(text)
    // JSON inside a string of JSON, as tools pass their input on.
    return [text, quoted, inJson(quoted), inAsciiJson(text), encodeURIComponent(text.toWellFormed())]
  })
  const bytes = Buffer.from(secret)
  if (bytes.length <= maxEncodedBytes) forms.push(bytes.toString('hex'), bytes.toString('hex').toUpperCase(), ...inBase64(bytes))
  return [...new Set(forms)].filter((form) => form.length >= minSecretLength)
}

const inJson = (text: string) => JSON.stringify(text).slice(1, -1)

const inAsciiJson = (text: string) =>
  inJson(text).replace(/[\u0080-\uffff]/g, (sign) => `\\u${sign.charCodeAt(0).toString(16).padStart(4, '0')}`)

/** What stands before a secret shifts its base64; the signs at both ends that depend on the neighbours are left off. */
function inBase64(bytes: Buffer): string[] {
  return [0, 1, 2].flatMap((before) => {
    const encoded = Buffer.concat([Buffer.alloc(before), bytes]).toString('base64')
    const certain = encoded.slice(Math.ceil((before * 4) / 3), Math.floor(((before + bytes.length) * 4) / 3))
    return [certain, certain.replaceAll('+', '-').replaceAll('/', '_')]
  })
}
