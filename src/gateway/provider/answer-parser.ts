/** Hears an answer as it is read. */
export interface AnswerHearer {
  /** `headers` are names and values in turn. */
  head(status: number, headers: string[]): void
  /** All that one read brought of it. */
  body(bytes: Buffer): void
  /** `isKept`: the connection may be asked again. */
  end(isKept: boolean): void
}

/** What came is no answer that HTTP/1.1 allows, or one that could be read in two ways. */
export class MalformedAnswer extends Error {}

/** The longest head, and the longest trailer, in bytes: longer ones Node would not take from us either. */
const maxHeadBytes = 16 * 1024
const maxSizeLineBytes = 1024

const version = 'HTTP/1.'
const carriageReturn = 13
const lineFeed = 10

/**
 * Reads the answer to one request from the bytes of its connection. Strict: where others guess, it throws `MalformedAnswer`. Node's own client makes a stream and
 * a dozen objects of each answer, which costs a call as much as all that we do for it.
 */
export class AnswerParser {
  readonly #to: AnswerHearer
  #reads: 'head' | 'body' | 'size' | 'gap' | 'trailer' | 'nothing' = 'head'
  #isChunked = false
  #isKept = false
  /** Of the body, or of one chunk of it. */
  #left = 0
  /** What is not whole yet of a head or a line. */
  #rest: Buffer | undefined
  #trailerBytes = 0
  #pieces: Buffer[] = []

  constructor(to: AnswerHearer) {
    this.#to = to
  }

  push(chunk: Buffer): void {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    this.#rest = undefined
    let at = 0
    try {
      while (at < bytes.length && this.#reads !== 'nothing') {
        const next = this.#read(bytes, at)
        if (next === undefined) {
          this.#rest = bytes.subarray(at)
          break
        }
        at = next
      }
    } finally {
      // Also what came before that which is no answer.
      const pieces = this.#pieces
      this.#pieces = []
      if (pieces.length > 0) this.#to.body(pieces.length === 1 ? pieces[0]! : Buffer.concat(pieces))
    }
    // What nobody asked for follows: who knows what it answers.
    if (this.#reads === 'nothing') this.#to.end(this.#isKept && at === bytes.length)
  }

  /** The connection has ended. True if the answer has too. */
  finish(): boolean {
    const isEnd = this.#reads === 'body' && this.#left === Number.POSITIVE_INFINITY
    if (isEnd) {
      this.#reads = 'nothing'
      this.#to.end(false)
    }
    return isEnd
  }

  /** Up to where; undefined if it takes more bytes to know. */
  #read(bytes: Buffer, at: number): number | undefined {
    switch (this.#reads) {
      case 'head':
        return this.#readHead(bytes, at)
      case 'body':
        return this.#readBody(bytes, at)
      case 'size':
        return this.#readSize(bytes, at)
      case 'gap':
        return this.#readGap(bytes, at)
      default:
        return this.#readTrailer(bytes, at)
    }
  }

  #readHead(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf('\r\n\r\n', at, 'latin1')
    if ((end === -1 ? bytes.length : end) - at > maxHeadBytes) throw new MalformedAnswer('a head that is too long')
    if (end === -1) {
      // Who speaks otherwise may wait for us now.
      const begun = bytes.toString('latin1', at)
      if (!version.startsWith(begun.slice(0, version.length)) || /(?:^|[^\r])\n/.test(begun)) throw new MalformedAnswer('no HTTP')
      return undefined
    }
    const { status, minor, headers } = headIn(bytes.toString('latin1', at, end + 2))
    if (status === 101) throw new MalformedAnswer('a change of protocol that nobody asked for')
    // Only that the answer is still to come.
    if (status >= 200) this.#begin(status, minor, headers)
    return end + 4
  }

  #begin(status: number, minor: number, headers: string[]): void {
    const { lengths, codings, closes } = framingIn(headers)
    this.#isKept = minor === 1 && !closes
    if (codings.length > 0) {
      if (lengths.length > 0 || codings.some((coding) => coding !== 'chunked'))
        throw new MalformedAnswer('a length that can be read in two ways')
      this.#isChunked = true
    }
    this.#left = lengths.length > 0 ? lengthOf(lengths) : Number.POSITIVE_INFINITY
    if (status === 204 || status === 304 || this.#left === 0) this.#reads = 'nothing'
    else if (this.#isChunked) this.#reads = 'size'
    else {
      this.#reads = 'body'
      if (this.#left === Number.POSITIVE_INFINITY) this.#isKept = false
    }
    this.#to.head(status, headers)
  }

  #readBody(bytes: Buffer, at: number): number {
    const piece = at === 0 && bytes.length <= this.#left ? bytes : bytes.subarray(at, Math.min(bytes.length, at + this.#left))
    this.#pieces.push(piece)
    this.#left -= piece.length
    if (this.#left === 0) this.#reads = this.#isChunked ? 'gap' : 'nothing'
    return at + piece.length
  }

  #readSize(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(lineFeed, at)
    if ((end === -1 ? bytes.length : end) - at > maxSizeLineBytes) throw new MalformedAnswer('a chunk that does not begin')
    if (end === -1) return undefined
    const size = sizeLine.exec(bytes.toString('latin1', at, end))?.[1]
    if (size === undefined) throw new MalformedAnswer('a chunk without its size')
    this.#left = Number.parseInt(size, 16)
    this.#reads = this.#left === 0 ? 'trailer' : 'body'
    return end + 1
  }

  #readGap(bytes: Buffer, at: number): number | undefined {
    if (bytes.length - at < 2) return undefined
    if (bytes[at] !== carriageReturn || bytes[at + 1] !== lineFeed) throw new MalformedAnswer('a chunk that does not end')
    this.#reads = 'size'
    return at + 2
  }

  #readTrailer(bytes: Buffer, at: number): number | undefined {
    const end = bytes.indexOf(lineFeed, at)
    const length = (end === -1 ? bytes.length : end) - at
    if (this.#trailerBytes + length > maxHeadBytes) throw new MalformedAnswer('a trailer that is too long')
    if (end === -1) return undefined
    this.#trailerBytes += length
    if (length === 0 || bytes[end - 1] !== carriageReturn) throw new MalformedAnswer('a line without its end')
    if (length === 1) this.#reads = 'nothing'
    else fieldIn(bytes.toString('latin1', at, end - 1))
    return end + 1
  }
}

/** Of twelve digits: more than anybody sends. */
const sizeLine = /^([\da-f]{1,12})(?:;[\t\x20-\x7e\x80-\xff]*)?\r$/i
const statusLine = /^HTTP\/1\.([01]) ([1-9]\d\d)(?: [\t\x20-\x7e\x80-\xff]*)?$/
const fieldName = /^[!#$%&'*+\-.^_`|~\w]+$/
const fieldValue = /^[\t\x20-\x7e\x80-\xff]*$/

/** Each line of `text` has its end. */
function headIn(text: string): { status: number; minor: number; headers: string[] } {
  let end = text.indexOf('\r\n')
  const [, minor, status] = statusLine.exec(text.slice(0, end)) ?? []
  if (minor === undefined || status === undefined) throw new MalformedAnswer('no HTTP')
  const headers: string[] = []
  for (let at = end + 2; at < text.length; at = end + 2) {
    end = text.indexOf('\r\n', at)
    headers.push(...fieldIn(text.slice(at, end)))
  }
  return { status: Number(status), minor: Number(minor), headers }
}

function fieldIn(line: string): [name: string, value: string] {
  const colon = line.indexOf(':')
  const name = line.slice(0, colon)
  let from = colon + 1
  let to = line.length
  while (from < to && isSpace(line, from)) from++
  while (to > from && isSpace(line, to - 1)) to--
  const value = line.slice(from, to)
  if (colon === -1 || !fieldName.test(name) || !fieldValue.test(value)) throw new MalformedAnswer('a header that is none')
  return [name, value]
}

const isSpace = (line: string, at: number) => line[at] === ' ' || line[at] === '\t'

/** What the headers say of where the answer ends, and whether the connection does too. */
function framingIn(headers: readonly string[]): { lengths: string[]; codings: string[]; closes: boolean } {
  const lengths: string[] = []
  const codings: string[] = []
  let closes = false
  for (let at = 0; at < headers.length; at += 2) {
    const name = headers[at]!
    const value = headers[at + 1]!
    if (name.length === 14 && name.toLowerCase() === 'content-length') lengths.push(value)
    else if (name.length === 17 && name.toLowerCase() === 'transfer-encoding') codings.push(...listed(value))
    else if (name.length === 10 && name.toLowerCase() === 'connection') closes ||= listed(value).includes('close')
  }
  return { lengths, codings, closes }
}

const listed = (value: string) => value.split(',').map((part) => part.trim().toLowerCase())

function lengthOf([length = '', ...others]: readonly string[]): number {
  if (others.length > 0 || !/^\d{1,15}$/.test(length)) throw new MalformedAnswer('a length that can be read in two ways')
  return Number(length)
}
