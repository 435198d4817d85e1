import { StringDecoder } from 'node:string_decoder'
import { PawlError } from '../../domain/error.ts'
import type { Frame } from './wire.ts'

export interface FrameSplitter {
  /** The frames that this chunk completes. */
  push(chunk: Uint8Array): Frame[]
  /** What the end completes. What is left of a cut frame is dropped. */
  end(): Frame[]
}

export interface FrameOptions {
  /** Characters of one frame. */
  readonly maxChars?: number | undefined
  /** What becomes of a frame that is longer: the stream is given up, or the frame is left out. */
  readonly tooLong?: 'refuse' | 'skip' | undefined
}

export const defaultMaxFrameChars = 32 * 1024 * 1024

/** Splits a stream of server-sent events or of lines of JSON, wherever its chunks are cut. */
export function createFrameSplitter(framing: 'sse' | 'ndjson', options: FrameOptions = {}): FrameSplitter {
  const isSse = framing === 'sse'
  let frames: Frame[] = []
  const tooLong = createBound(options)
  const reader = (isSse ? sseReader : ndjsonReader)((frame) => frames.push(frame), tooLong)
  const lines = createLines(reader.line, tooLong, { loneReturns: isSse })
  const take = () => {
    const taken = frames
    frames = []
    return taken
  }
  return {
    push(chunk) {
      lines.push(chunk)
      return frames.length === 0 ? none : take()
    },
    end() {
      lines.end()
      // Only a line of JSON without its end may be one that was cut.
      if (!isSse && frames.length > 0 && !isWhole(frames.at(-1)!.data)) frames.pop()
      reader.end()
      return take()
    },
  }
}

/** One server-sent event. JSON text has no line ends in it, so one `data` line is enough. */
export const sseFrame = (data: unknown, event?: string): string =>
  event === undefined ? `data: ${JSON.stringify(data)}\n\n` : `event: ${event}\ndata: ${JSON.stringify(data)}\n\n`

export const ndjsonFrame = (data: unknown): string => `${JSON.stringify(data)}\n`

/** What the lines of a framing come to. */
interface FrameReader {
  line(line: string): void
  /** The stream is over. Some servers leave out the last empty line, and a connection may break anywhere: only what is whole is a frame. */
  end(): void
}

type ReaderOf = (add: (frame: Frame) => void, tooLong: Bound) => FrameReader

const sseReader: ReaderOf = (add, tooLong) => {
  let event: string | undefined
  let data: string | undefined
  const dispatch = () => {
    if (data !== undefined) add(event === undefined ? { data } : { event, data })
    event = undefined
    data = undefined
  }
  return {
    line(line) {
      if (line === '') dispatch()
      else if (line.startsWith('data:')) {
        const value = line.slice(line.charCodeAt(5) === space ? 6 : 5)
        if (tooLong(value.length + (data?.length ?? 0))) data = undefined
        else data = data === undefined ? value : `${data}\n${value}`
      } else if (line.startsWith('event:')) event = line.slice(line.charCodeAt(6) === space ? 7 : 6)
      else if (line === 'data') data = data === undefined ? '' : `${data}\n`
    },
    end() {
      if (data !== undefined && isWhole(data)) dispatch()
    },
  }
}

const ndjsonReader: ReaderOf = (add) => ({
  line(line) {
    if (line.trim() !== '') add({ data: line })
  },
  end: () => {},
})

const none: Frame[] = []
const space = 0x20
const byteOrderMark = 0xfeff

function isWhole(data: string): boolean {
  if (data === '[DONE]') return true
  try {
    JSON.parse(data)
    return true
  } catch (thrown) {
    if (!(thrown instanceof SyntaxError)) throw thrown
    return false
  }
}

type Bound = (chars: number) => boolean

function createBound({ maxChars = defaultMaxFrameChars, tooLong = 'refuse' }: FrameOptions): Bound {
  return (chars) => {
    if (chars <= maxChars) return false
    if (tooLong === 'skip') return true
    throw new PawlError('unavailable', `The provider sent an event of more than ${maxChars} characters; the answer was given up.`)
  }
}

/** Only what is new is searched for line ends, and a started line is joined piece by piece, so that a long one costs no more than its length. */
function createLines(onLine: (line: string) => void, tooLong: Bound, { loneReturns }: { readonly loneReturns: boolean }) {
  const decoder = new StringDecoder('utf8')
  let started = ''
  let isSkipped = false
  let isFirst = true
  let endedWithReturn = false

  function split(decoded: string): void {
    let text = decoded
    if (text === '') return
    if (isFirst) {
      isFirst = false
      if (text.charCodeAt(0) === byteOrderMark) text = text.slice(1)
    }
    if (loneReturns) text = withoutReturns(text)
    let from = 0
    for (let at = text.indexOf('\n'); at !== -1; at = text.indexOf('\n', from)) {
      endLine(text.slice(from, at))
      from = at + 1
    }
    if (from === text.length) return
    if (isSkipped || tooLong(started.length + text.length - from)) {
      isSkipped = true
      started = ''
    } else started += from === 0 ? text : text.slice(from)
  }

  /** A line may end with `\n`, `\r\n` or `\r`; the two of `\r\n` may come in two chunks. */
  function withoutReturns(text: string): string {
    const rest = endedWithReturn && text.charCodeAt(0) === 0x0a ? text.slice(1) : text
    endedWithReturn = text.charCodeAt(text.length - 1) === 0x0d
    return rest.includes('\r') ? rest.replace(/\r\n?/g, '\n') : rest
  }

  function endLine(last: string): void {
    const line = started === '' ? last : started + last
    const isDropped = isSkipped
    started = ''
    isSkipped = false
    if (!isDropped && !tooLong(line.length)) onLine(line)
  }

  return {
    push: (chunk: Uint8Array) => split(decoder.write(chunk)),
    end() {
      split(decoder.end())
      if (started !== '') endLine('')
    },
  }
}
