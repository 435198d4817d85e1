import type { Wire } from './wire.ts'

/** Cuts a passing stream at the ends of its frames, however the network has cut it, so that what goes on is always whole frames, byte for byte. */
export class FrameCutter {
  #rest: Buffer | undefined
  readonly #framing: Wire['framing']

  constructor(framing: Wire['framing']) {
    this.#framing = framing
  }

  /** All frames that are whole with this chunk; undefined if none is. */
  push(chunk: Buffer): Buffer | undefined {
    const bytes = this.#rest ? Buffer.concat([this.#rest, chunk]) : chunk
    const end = lastEnd(bytes, this.#framing)
    this.#rest = end === bytes.length ? undefined : bytes.subarray(end)
    return end === 0 ? undefined : bytes.subarray(0, end)
  }

  /** What came after the last end. */
  get rest(): Buffer | undefined {
    return this.#rest
  }
}

/** The frames of bytes that are whole frames. */
export function* framesIn(bytes: Buffer, framing: Wire['framing']): Generator<Buffer> {
  let start = 0
  while (start < bytes.length) {
    const end = firstEnd(bytes, framing, start)
    yield bytes.subarray(start, end)
    start = end
  }
}

const newline = 0x0a

function lastEnd(bytes: Buffer, framing: Wire['framing']): number {
  if (framing === 'ndjson') return bytes.lastIndexOf(newline) + 1
  if (bytes[bytes.length - 1] === newline && bytes[bytes.length - 2] === newline) return bytes.length
  const plain = bytes.lastIndexOf('\n\n')
  const withReturns = bytes.lastIndexOf('\r\n\r\n')
  return Math.max(plain === -1 ? 0 : plain + 2, withReturns === -1 ? 0 : withReturns + 4)
}

function firstEnd(bytes: Buffer, framing: Wire['framing'], from: number): number {
  if (framing === 'ndjson') return bytes.indexOf(newline, from) + 1 || bytes.length
  const plain = bytes.indexOf('\n\n', from)
  const withReturns = bytes.indexOf('\r\n\r\n', from)
  return Math.min(plain === -1 ? bytes.length : plain + 2, withReturns === -1 ? bytes.length : withReturns + 4)
}
