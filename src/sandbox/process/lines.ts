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
        if (newline === -1) return started.add(chunk, 0, chunk.length)
        endLine(chunk, 0, newline)
        from = newline + 1
      }
      const last = chunk.lastIndexOf(newlineByte)
      if (last >= from) {
        if (last - from <= maxBytes) splitRun(chunk, from, last)
        else splitEach(chunk, from, last)
        from = last + 1
      }
      if (from < chunk.length) started.add(chunk, from, chunk.length)
    },
    end() {
      if (!started.isEmpty) endLine(nothing, 0, 0)
    },
  }

  function splitRun(chunk: Buffer, from: number, last: number): void {
    // Decoding the whole run once and slicing the text is several times quicker than decoding line by line.
    const run = chunk.toString('utf8', from, last)
    let start = 0
    for (let newline = run.indexOf('\n'); newline !== -1; newline = run.indexOf('\n', start)) {
      const hasReturn = newline > start && run.charCodeAt(newline - 1) === returnCode
      onLine(run.slice(start, hasReturn ? newline - 1 : newline), 0)
      start = newline + 1
    }
    onLine(withoutReturn(run.slice(start)), 0)
  }

  function splitEach(chunk: Buffer, from: number, last: number): void {
    for (let start = from; start <= last; ) {
      const newline = chunk.indexOf(newlineByte, start)
      endLine(chunk, start, newline)
      start = newline + 1
    }
  }

  function endLine(chunk: Buffer, from: number, to: number): void {
    started.add(chunk, from, to)
    const { text, truncatedBytes } = started.take()
    onLine(text, truncatedBytes)
  }
}

const newlineByte = 0x0a
const returnCode = 0x0d
const nothing = Buffer.alloc(0)
const withoutReturn = (text: string) => (text.charCodeAt(text.length - 1) === returnCode ? text.slice(0, -1) : text)
const firstRoomBytes = 4 * 1024
const idleRoomBytes = 64 * 1024
// Measured: much smaller pieces of text are copied about by the garbage collector, larger ones only take more room.
const decodeAtBytes = 1_000_000

/**
 * A line whose end has not come yet. Its bytes are copied, so that a few of them do not hold a whole chunk in memory, and
 * decoded as they grow, so that a huge line is never held as bytes and as text at once.
 */
function createStartedLine(maxBytes: number) {
  let bytes = nothing
  let filled = 0
  let text = ''
  let decoder: StringDecoder | undefined
  let keptBytes = 0
  let truncatedBytes = 0

  function makeRoom(wanted: number): void {
    if (filled === decodeAtBytes) {
      decoder ??= new StringDecoder('utf8')
      text += decoder.write(bytes)
      filled = 0
    }
    if (filled + wanted <= bytes.length || bytes.length === decodeAtBytes) return
    const grown = Buffer.allocUnsafeSlow(Math.min(decodeAtBytes, Math.max(firstRoomBytes, bytes.length * 2, filled + wanted)))
    bytes.copy(grown, 0, 0, filled)
    bytes = grown
  }

  return {
    get isEmpty() {
      return keptBytes === 0 && truncatedBytes === 0
    },
    add(chunk: Buffer, from: number, to: number) {
      const keptTo = Math.min(to, from + maxBytes - keptBytes)
      truncatedBytes += to - keptTo
      keptBytes += keptTo - from
      for (let at = from; at < keptTo; ) {
        makeRoom(keptTo - at)
        const copied = chunk.copy(bytes, filled, at, keptTo)
        filled += copied
        at += copied
      }
    },
    take(): Line {
      // A character cut in two by the cap would end the text with a U+FFFD that the agent never wrote: a decoder holds it back.
      if (truncatedBytes > 0) decoder ??= new StringDecoder('utf8')
      const last = decoder ? decoder.write(bytes.subarray(0, filled)) : bytes.toString('utf8', 0, filled)
      // Looking at the end of a joined string would copy all of it, so the last part is looked at before it is joined.
      const line = {
        text: text + (truncatedBytes > 0 ? last : withoutReturn(last + (decoder?.end() ?? ''))),
        truncatedBytes,
      }
      text = ''
      decoder = undefined
      if (bytes.length > idleRoomBytes) bytes = nothing
      filled = 0
      keptBytes = 0
      truncatedBytes = 0
      return line
    },
  }
}
