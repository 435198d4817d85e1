import { StringDecoder } from 'node:string_decoder'

/** One line without its end. `truncatedBytes` counts what was dropped because the line was over the cap. */
export interface Line {
  readonly text: string
  readonly truncatedBytes: number
}

export interface LineOptions {
  /** Bytes kept of one line; the rest is counted and dropped. `Infinity` keeps all. */
  readonly maxBytes?: number
}

export interface LineSplitter {
  push(chunk: Buffer): void
  /** Delivers a last line that has no newline. */
  end(): void
}

export const defaultMaxLineBytes = 1024 * 1024

/** The lines of a stream, as many at a time as one chunk completed: awaiting each line alone would cost more than splitting it. */
export async function* lineBatches(chunks: AsyncIterable<Buffer>, options: LineOptions = {}): AsyncGenerator<readonly Line[]> {
  let batch: Line[] = []
  const splitter = createLineSplitter({ ...options, onLine: (text, truncatedBytes) => batch.push({ text, truncatedBytes }) })
  const take = () => {
    const taken = batch
    batch = []
    return taken
  }
  for await (const chunk of chunks) {
    splitter.push(chunk)
    if (batch.length > 0) yield take()
  }
  splitter.end()
  if (batch.length > 0) yield take()
}

/**
 * Splits bytes at `\n` alone (`readline` also breaks at U+2028, which is legal inside JSON) and strips one `\r` before it.
 * Bytes that are not UTF-8 become U+FFFD; a character split between two chunks stays whole.
 */
export function createLineSplitter(
  options: LineOptions & { readonly onLine: (text: string, truncatedBytes: number) => void },
): LineSplitter {
  const maxBytes = options.maxBytes ?? defaultMaxLineBytes
  const { onLine } = options
  const started = createStartedLine(maxBytes)
  return {
    push(chunk) {
      let from = 0
      if (!started.isEmpty) {
        const newline = chunk.indexOf(newlineByte)
        if (newline === -1) return started.add(chunk)
        started.add(chunk.subarray(0, newline))
        const { text, truncatedBytes } = started.take()
        onLine(text, truncatedBytes)
        from = newline + 1
      }
      const last = chunk.lastIndexOf(newlineByte)
      if (last >= from) {
        if (last - from <= maxBytes) splitRun(chunk, from, last)
        else splitEach(chunk, from, last)
        from = last + 1
      }
      if (from < chunk.length) started.add(chunk.subarray(from))
    },
    end() {
      if (started.isEmpty) return
      const { text, truncatedBytes } = started.take()
      onLine(text, truncatedBytes)
    },
  }

  function splitRun(chunk: Buffer, from: number, last: number): void {
    // Decoding the whole run once and slicing the text is several times quicker than decoding line by line.
    const run = chunk.toString('utf8', from, last)
    let start = 0
    for (let newline = run.indexOf('\n'); newline !== -1; newline = run.indexOf('\n', start)) {
      onLine(withoutReturn(run.slice(start, newline)), 0)
      start = newline + 1
    }
    onLine(withoutReturn(start === 0 ? run : run.slice(start)), 0)
  }

  function splitEach(chunk: Buffer, from: number, last: number): void {
    for (let start = from; start <= last; ) {
      const newline = chunk.indexOf(newlineByte, start)
      started.add(chunk.subarray(start, newline))
      const { text, truncatedBytes } = started.take()
      onLine(text, truncatedBytes)
      start = newline + 1
    }
  }
}

const newlineByte = 0x0a
const returnCode = 0x0d
const withoutReturn = (text: string) => (text.charCodeAt(text.length - 1) === returnCode ? text.slice(0, -1) : text)
const decodeAtBytes = 256 * 1024

/** A line whose end has not come yet. Decoded as it grows, so that a huge one is never held as bytes and as text at once. */
function createStartedLine(maxBytes: number) {
  let text = ''
  let decoder: StringDecoder | undefined
  let parts: Buffer[] = []
  let partBytes = 0
  let keptBytes = 0
  let truncatedBytes = 0
  const decodeParts = (): string => {
    const bytes = parts.length === 1 ? parts[0]! : Buffer.concat(parts, partBytes)
    parts = []
    partBytes = 0
    return decoder ? decoder.write(bytes) : bytes.toString('utf8')
  }
  return {
    get isEmpty() {
      return keptBytes === 0 && truncatedBytes === 0
    },
    add(bytes: Buffer) {
      const room = maxBytes - keptBytes
      const kept = bytes.length <= room ? bytes : bytes.subarray(0, room)
      truncatedBytes += bytes.length - kept.length
      if (kept.length === 0) return
      parts.push(kept)
      partBytes += kept.length
      keptBytes += kept.length
      if (partBytes < decodeAtBytes) return
      decoder ??= new StringDecoder('utf8')
      text += decodeParts()
    },
    take(): Line {
      if (truncatedBytes > 0) decoder ??= new StringDecoder('utf8')
      const last = partBytes > 0 ? decodeParts() : ''
      const rest = decoder?.end() ?? ''
      const line =
        truncatedBytes > 0
          ? // A character cut in two by the cap would end the text with a U+FFFD that the agent never wrote.
            { text: text + last, truncatedBytes }
          : // Looking at the end of a joined string would copy all of it, so a long one is looked at before it is joined.
            { text: last + rest === '' ? withoutReturn(text) : text + withoutReturn(last + rest), truncatedBytes }
      text = ''
      decoder = undefined
      keptBytes = 0
      truncatedBytes = 0
      return line
    },
  }
}
