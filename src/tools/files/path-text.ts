import { invalid } from '../../domain/error.ts'

const longestName = 255
const longestPath = 4_096
/** Characters that nobody sees, or that turn the text around them: two names that look alike would be different files. */
const invisible = /[\p{Default_Ignorable_Code_Point}\p{Bidi_Control}\u2028\u2029\ufff9-\ufffb]/u
const control = /[\u0000-\u001f\u007f-\u009f]/
/** Devices under any folder on another system, where this tree may be checked out one day. */
const device = /^(con|prn|aux|nul|com[0-9¹²³]|lpt[0-9¹²³]|conin\$|conout\$)(\.|$)/i
const drive = /^[a-z]:/i

/** A path as a model wrote it, in the one form in which names are compared; refuses what would not mean what it seems to. */
export function readPathText(text: string): string {
  const shown = JSON.stringify(text.length > 200 ? `${text.slice(0, 200)}…` : text)
  const refuse = (why: string) => invalid(`The path ${shown} ${why}`)
  if (text === '') throw refuse('is empty; name a file or folder.')
  if (!text.isWellFormed()) throw refuse('is no valid text.')
  if (control.test(text)) throw refuse('holds a control character; leave it out.')
  if (invisible.test(text)) throw refuse('holds a character that cannot be seen; leave it out.')
  const path = text.normalize('NFC')
  if (Buffer.byteLength(path) > longestPath) throw refuse(`is longer than ${longestPath} bytes.`)
  if (path.includes('\\')) throw refuse('holds a backslash; folders are separated by "/".')
  if (path === '~' || path.startsWith('~/')) throw refuse('begins with "~", which means nothing here; give the whole path.')
  for (const name of path.split('/')) {
    if (name === '' || name === '.' || name === '..') continue
    if (Buffer.byteLength(name) > longestName) throw refuse(`has a name of more than ${longestName} bytes.`)
    if (device.test(name) || drive.test(name)) throw refuse(`names a device or drive (${name}).`)
    if (/[. ]$/.test(name)) throw refuse(`has a name that ends with a dot or a space (${JSON.stringify(name)}).`)
  }
  return path
}
