/** A label has a few words (`RSA`, `OPENSSH`), none of them long. */
const label = '(?:[A-Z0-9]{1,32} ){0,4}PRIVATE KEY-----'

export const privateKeyBegins = new RegExp(`-----BEGIN ${label}`, 'g')

/**
 * Where the key ends whose first line ends at `start`: after its last line, or, of a key that was cut off, after the last line that looks like one. Its lines
 * may be parted by line breaks as JSON writes them.
 */
export function endOfPrivateKey(text: string, start: number): number {
  let end = start
  let next = afterBreak(text, end)
  const take = (line: RegExp) => {
    const after = next > end ? endOf(line, text, next) : undefined
    if (after === undefined) return false
    end = after
    next = afterBreak(text, end)
    return true
  }
  while (take(header));
  while (take(line));
  const last = next > end ? endOf(shortLine, text, next) : undefined
  if (last !== undefined) {
    const afterLast = afterBreak(text, last)
    if (last === text.length || (afterLast > last && text.startsWith('-----END', afterLast))) {
      end = last
      next = afterLast
    }
  }
  take(lastLine)
  return end
}

const header = /[A-Z][\w-]+: [^\r\n\\]*/y
const line = /[A-Za-z0-9+/=]{16,}/y
const shortLine = /[A-Za-z0-9+/=]{1,15}/y
const lastLine = new RegExp(`-----END ${label}`, 'y')

function endOf(shape: RegExp, text: string, start: number): number | undefined {
  shape.lastIndex = start
  return shape.test(text) ? shape.lastIndex : undefined
}

/** The `n` of a `\\n` belongs to the break. */
const notBlank = /(?<!\\)[nr]|[^\s\\nr]|\\(?![nr])/g

/** Where the next line begins, or `start` if none does. */
function afterBreak(text: string, start: number): number {
  notBlank.lastIndex = start
  return notBlank.test(text) ? notBlank.lastIndex - 1 : text.length
}
